#!/usr/bin/env python3
"""draw.py FOLDER: writes the synthetic collection that the pages and tests of own documents use.

docs.jsonl has 360 notes with title and text. Each is about one of 12 crafts and one of 3 sides of it, and has words of other crafts.
topics.tsv has a topic for each craft and side. qrels judges seven of ten notes of each topic: 2 for its craft and side, 1 for the
craft alone, 0 for another craft with words of this one. The other three are not judged. Each call writes the same bytes.
"""

import json
import pathlib
import random
import sys

CRAFTS = {
    "bread": "dough flour yeast oven crust loaf knead starter rye proof bake crumb",
    "bicycle": "wheel chain brake saddle pedal spoke frame gear tyre handlebar hub derailleur",
    "garden": "soil compost seedling prune hedge mulch bulb rose weed bed lawn spade",
    "pottery": "clay kiln glaze throw bisque slip wheel fire bowl vessel stoneware handle",
    "sailing": "hull mast jib rudder tack keel anchor harbour rope wind deck tiller",
    "violin": "bow string rosin bridge peg scroll chin vibrato tune varnish neck concert",
    "beekeeping": "hive queen honey comb smoker swarm frame brood nectar drone wax apiary",
    "chess": "pawn rook bishop knight castle gambit endgame opening board clock mate fork",
    "weaving": "loom warp weft shuttle yarn heddle wool cloth pattern thread dye selvedge",
    "cheese": "milk rennet curd whey rind mould cellar brine culture press wheel goat",
    "telescope": "mirror lens star planet mount aperture eyepiece focus nebula dome tripod comet",
    "joinery": "oak chisel plane mortise tenon dovetail saw clamp glue grain bench mallet",
}
SIDES = {
    "repair": "broken mend replace worn damage fix crack spare tool loose careful part",
    "history": "century museum origin guild ancient trade invented village master record old king",
    "teaching": "beginner lesson school practice learn book course student simple first guide mistake",
}
COMMON = "good time hand work day small make use year people right long place need water light".split()


def main(folder):
    draw = random.Random(12)
    crafts = {name: words.split() for name, words in CRAFTS.items()}
    sides = {name: words.split() for name, words in SIDES.items()}
    documents = []
    for number in range(360):
        craft = list(crafts)[number % len(crafts)]
        side = list(sides)[number // len(crafts) % len(sides)]
        other = draw.choice(list(crafts))
        words = []
        for _ in range(draw.randrange(25, 90)):
            chance = draw.random()
            words.append(draw.choice(crafts[craft] if chance < .3 else sides[side] if chance < .45
                                     else crafts[other] if chance < .6 else COMMON))
        if draw.random() < .7:
            words.insert(draw.randrange(len(words)), craft)
        title = f"{draw.choice(crafts[craft])} and {draw.choice(sides[side])}"
        documents.append((f"N{number:03}", craft, side, other, title, " ".join(words)))
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "docs.jsonl").write_text("".join(json.dumps({"id": name, "title": title, "text": text}) + "\n"
                                               for name, _, _, _, title, text in documents))
    topics, judgments, judge = [], [], random.Random(13)
    for at, (craft, side) in enumerate((craft, side) for craft in crafts for side in sides):
        name = f"T{at + 1:02}"
        words = [craft, *draw.sample(crafts[craft], 3), *draw.sample(sides[side], 3)]
        topics.append(f"{name}\t{' '.join(words)}\n")
        for document, of, about, other, _, _ in documents:
            if judge.random() < .3:
                continue
            if of == craft:
                judgments.append(f"{name} 0 {document} {2 if about == side else 1}\n")
            elif other == craft:
                judgments.append(f"{name} 0 {document} 0\n")
    (folder / "topics.tsv").write_text("".join(topics))
    (folder / "qrels").write_text("".join(judgments))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(pathlib.Path(sys.argv[1]))
