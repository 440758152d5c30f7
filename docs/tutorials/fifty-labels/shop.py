#!/usr/bin/env python3
"""shop.py FOLDER [SEED]: writes the synthetic shop of docs/tutorials/fifty-labels.md: 2,400 products, 80 queries, and a grade for every pair.

docs.jsonl has a product in each line: id, title, text, and the columns that a shop's database has (COLUMNS). topics.tsv has the
queries, qrels the grades 0 to 3 of all pairs. A seed (default 1) gives the same bytes with every Python and on every machine:
the only source of chance is random.random(), and Decimal computes logarithms and exponentials.

The rule of the grades. An assessor of query q and product p, which is of the type that q names, estimates

    u = M + P + M P + V / 2 + F / 2 + e

    M  share of the properties in q (brand, colour, material, style, use) that p has; 1 if q names none
    P  popularity, 0 to 1: the logarithm of the orders, scaled within the type
    V  value, 0 to 1: 1 minus the rank of the price within the type
    F  freshness, 0 to 1: 1 minus the age over three years
    e  error of the assessor, normal with the standard deviation ERROR

and gives the grade 1, 2 or 3 from u >= GRADES[0], GRADES[1] or GRADES[2] on. M P is the interaction: orders count twice for a
product that is exactly what q asks for. A product of another type has the grade 0. Ratings have no influence. The parameters were
fixed from published figures before any ranking was measured:

- Orders fall with their rank to the power -0.871, as sales of books at Amazon do (Brynjolfsson, Hu and Smith, Management Science 49,
  2003). Brands, colours and other words fall with the power -1 (Zipf).
- Prices are log-normal around the median of the type, with a standard deviation of 0.5 of the logarithm.
- Lengths of queries peak at 2 words, as in query logs (Arampatzis and Kamps, SIGIR 2008), and one of ten queries has a misspelt
  word (Cucerzan and Brill, EMNLP 2004: 10 to 15 %).
- A type has two names, because people name one thing differently (Furnas et al., Communications of the ACM 30, 1987).
- Features of the product alone are very useful in a shop's search, most of all its popularity (Karmaker Santu, Sondhi and Zhai,
  SIGIR 2017). Here M has about twice the variance of P + M P over products of the type, and seven times that of V / 2 or F / 2.
- GRADES gives shares of about 40, 35, 18 and 7 % of the products of the type. They lie between those of web search (MSLR-WEB10K: 52,
  32, 13, 2 and 1 %) and of a shop (WANDS, Chen et al., ECIR 2022: 26, 63 and 11 %).
- With ERROR two assessors agree moderately, as people do: Cohen's kappa is about 0.48 over products of the type.
"""

import bisect
import decimal
import functools
import itertools
import json
import operator
import pathlib
import random
import sys

# The materials of each department, and its types: two names and a median price.
DEPARTMENTS = [
    ("oak pine steel walnut velvet leather rattan glass",
     [("sofa", "couch", 700), ("desk", "bureau", 240), ("bookcase", "bookshelf", 160), ("wardrobe", "closet", 420),
      ("armchair", "recliner", 330), ("lamp", "light", 60)]),
    ("steel ceramic glass copper iron bamboo plastic enamel",
     [("kettle", "boiler", 45), ("pan", "skillet", 38), ("blender", "mixer", 80), ("mug", "cup", 12), ("toaster", "grill", 50),
      ("jar", "canister", 15)]),
    ("nylon cotton wool leather polyester fleece canvas down",
     [("jacket", "coat", 120), ("backpack", "rucksack", 75), ("tent", "shelter", 180), ("boots", "shoes", 95),
      ("blanket", "throw", 40), ("gloves", "mittens", 25)]),
    ("plastic aluminium steel wood fabric silicone glass carbon",
     [("headphones", "headset", 90), ("speaker", "soundbar", 110), ("monitor", "display", 230), ("keyboard", "keypad", 60),
      ("charger", "adapter", 25), ("camera", "webcam", 140)]),
]
PROPERTIES = {
    "brand": "northway alderic brightline kestrel homestead lumen corvo tidewell marlow fernhill quartz solvane hearthly pinnacle "
             "oakmere velora stratus cobalt juniper meridian tallow crestline embervale wrenfield",
    "colour": "black white grey blue brown green red beige yellow pink",
    "style": "modern classic compact rustic slim vintage folding premium minimal large",
    "use": "home office travel kids garden student gift outdoor studio party",
}
FILLER = ("quality design easy comfortable bright strong everyday clean simple care durable space perfect soft feature include fit "
          "made love look warm room use size finish assembly warranty natural smooth practical stylish handy sturdy value choice "
          "detail craft wash safe store quick friendly order delivery pack set piece touch").split()
COLUMNS = ["views", "orders", "reviews", "rating", "price", "price_ratio", "age_days"]

PRODUCTS, QUERIES = 100, 80  # of each type; of all
MOST_ORDERS, SALES_SLOPE, PRICE_SPREAD, LIFE_DAYS = 2000, "-0.871", 0.5, 1095
FIRST_NAME = 0.65  # share of the first of a type's names
IN_TITLE = {"brand": 1, "style": 0.5, "colour": 0.8, "material": 0.7, "use": 0.2}  # share of titles with the property
IN_TEXT, OTHER_NAME, OTHER_TYPE = 0.8, 0.5, 0.5  # share of texts with a property, the type's other name, a related type
SHORTER = [0, 0.15, 0.5, 0.8, 0.95]  # share of queries with fewer words than 1, 2, ...; none has more than 5
TYPING_ERRORS = 0.1
ERROR, GRADES = 0.25, (0.8, 1.4, 2.1)


class Chance:
    """Random choices, by random.random() alone, whose sequence Python guarantees. sum() of floats differs between versions of Python."""

    def __init__(self, seed):
        self.random = random.Random(seed).random

    def below(self, n):
        return int(self.random() * n)

    def zipf(self, things):
        """One of them, the first more often: the k-th with a weight of 1 / k."""
        ends = list(itertools.accumulate(1 / k for k in range(1, len(things) + 1)))
        return things[bisect.bisect(ends, self.random() * ends[-1], hi=len(ends) - 1)]

    def shuffled(self, things):
        return [thing for _, thing in sorted((self.random(), thing) for thing in things)]

    def normal(self):
        """The sum of twelve uniform numbers has the variance 1."""
        return functools.reduce(operator.add, (self.random() for _ in range(12))) - 6

    def factor(self, spread):
        """A log-normal number with the median 1."""
        return float(decimal.Decimal(spread * self.normal()).exp())


def name_of(chance, kind):
    return kind["names"][chance.random() >= FIRST_NAME]


def text_of(chance, kind, has):
    """Title and text of a product."""
    title = [has[one] for one in ("brand", "style", "colour", "material", "use") if chance.random() < IN_TITLE[one]]
    name = name_of(chance, kind)
    words = [name_of(chance, kind), *(word for word in has.values() if chance.random() < IN_TEXT)]
    if chance.random() < OTHER_NAME:
        words.append(next(other for other in kind["names"] if other != name))
    if chance.random() < OTHER_TYPE:
        words += ["matches", kind["related"][chance.below(len(kind["related"]))]]
    words += [chance.zipf(FILLER) for _ in range(15 + chance.below(45))]
    return " ".join([*title, name]), " ".join(chance.shuffled(words))


def products_of(chance, kind):
    """The products of a type, in random order of their popularity."""
    slope = decimal.Decimal(SALES_SLOPE)
    prices = [round(kind["price"] * chance.factor(PRICE_SPREAD), 2) for _ in range(PRODUCTS)]
    cheaper = {i: rank for rank, i in enumerate(sorted(range(PRODUCTS), key=lambda i: (prices[i], i)))}
    found = []
    for i, rank in enumerate(chance.shuffled(range(1, PRODUCTS + 1))):
        has = {name: chance.zipf(words) for name, words in kind["properties"].items()}
        orders = round(MOST_ORDERS * float((slope * decimal.Decimal(rank).ln()).exp()))
        age = chance.below(LIFE_DAYS)
        title, text = text_of(chance, kind, has)
        found.append({
            "title": title, "text": text, "views": round(30 * orders * chance.factor(0.5)),
            "orders": orders, "reviews": round(orders / 20 * chance.factor(0.5)),
            "rating": round(min(5, 4.2 + 0.4 * chance.normal()), 1), "price": prices[i],
            "price_ratio": round(prices[i] / kind["price"], 3), "age_days": age, "has": has,
            "popularity": 1 - float(decimal.Decimal(rank).ln() / decimal.Decimal(PRODUCTS).ln()),
            "value": 1 - cheaper[i] / (PRODUCTS - 1), "freshness": 1 - age / LIFE_DAYS})
    return found


def kinds_of(chance):
    """The types with their products, the most wanted first."""
    kinds = []
    for materials, types in DEPARTMENTS:
        for one, other, price in types:
            kinds.append({"names": (one, other), "price": price, "related": [name for name, *_ in types if name != one],
                          "properties": {name: words.split() for name, words in
                                         {**PROPERTIES, "material": materials}.items()}})
    kinds = [kinds[i] for i in chance.shuffled(range(len(kinds)))]
    for kind in kinds:
        kind["products"] = products_of(chance, kind)
    ids = iter(chance.shuffled(range(PRODUCTS * len(kinds))))
    for product in (product for kind in kinds for product in kind["products"]):
        product["id"] = f"P{next(ids):04}"  # at random, so that the order of the file says nothing of the type
    return kinds


def misspelt(chance, words):
    """The words with two neighbouring letters of one exchanged."""
    at = chance.below(len(words))
    i = chance.below(len(words[at]) - 1)
    word = words[at][:i] + words[at][i + 1] + words[at][i] + words[at][i + 2:]
    return [*words[:at], word, *words[at + 1:]]


def query_of(chance, kinds):
    """A type, the properties that the query asks for, and the words that a person types: those of a product that sells."""
    kind = chance.zipf(kinds)
    model = chance.zipf(sorted(kind["products"], key=lambda product: -product["popularity"]))
    length = bisect.bisect(SHORTER, chance.random())
    asked = {name: model["has"][name] for name in chance.shuffled(model["has"])[:length - 1]}
    words = [*asked.values()]
    words.insert(len(words) if chance.random() < 0.8 else 0, name_of(chance, kind))
    if len(words) > 1 and chance.random() < TYPING_ERRORS:
        words = misspelt(chance, words)
    return kind, asked, " ".join(words)


def grade(chance, asked, product):
    match = sum(product["has"][name] == word for name, word in asked.items()) / len(asked) if asked else 1
    popularity = product["popularity"]
    u = (match + popularity + match * popularity + product["value"] / 2 + product["freshness"] / 2 + ERROR * chance.normal())
    return sum(u >= least for least in GRADES)


def shop(seed):
    """The types with their products, {topic: (type, properties, words)}, and {(topic, product): grade} of every pair."""
    chance = Chance(seed)
    kinds = kinds_of(chance)
    queries = {}
    while len(queries) < QUERIES:
        kind, asked, words = query_of(chance, kinds)
        if all(words != other for _, _, other in queries.values()):
            queries[f"Q{len(queries) + 1:02}"] = kind, asked, words
    grades = {(topic, product["id"]): grade(chance, asked, product) if of is kind else 0
              for topic, (kind, asked, _) in queries.items() for of in kinds for product in of["products"]}
    return kinds, queries, grades


def main(folder, seed=1):
    kinds, queries, grades = shop(int(seed))
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    with open(folder / "docs.jsonl", "w", encoding="ascii", newline="\n") as out:
        for product in sorted((product for kind in kinds for product in kind["products"]), key=lambda product: product["id"]):
            print(json.dumps({name: product[name] for name in ["id", "title", "text", *COLUMNS]}), file=out)
    with open(folder / "topics.tsv", "w", encoding="ascii", newline="\n") as out:
        out.writelines(f"{topic}\t{words}\n" for topic, (_, _, words) in queries.items())
    with open(folder / "qrels", "w", encoding="ascii", newline="\n") as out:
        out.writelines(f"{topic} 0 {product} {value}\n" for (topic, product), value in grades.items())


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    main(*sys.argv[1:])
