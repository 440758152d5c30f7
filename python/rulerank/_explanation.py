"""Why documents have their scores."""

import dataclasses
import typing


@dataclasses.dataclass
class MemberExplanation:
    """What one member of a model does to a score.

    `kind` is rules, scorecard, card, linear or joint. `score`, `rank`: by this member alone; `mean`, `deviation`: of its
    scores over the query's documents; `part`: what it adds to the combined score. Of a comparison these
    are pairs, and mean and deviation None. `rules`, `items` and `terms` are DataFrames: of rules those
    that move the score most, and what each item moves; of a sum what each feature adds.
    `details` has the counts and exact numbers of a score by rules.
    """

    kind: str
    score: typing.Any
    rank: typing.Any
    part: typing.Any
    mean: float | None = None
    deviation: float | None = None
    rules: typing.Any = None
    items: typing.Any = None
    terms: typing.Any = None
    details: dict = dataclasses.field(default_factory=dict)


@dataclasses.dataclass
class Explanation:
    """Why a document has its score, or stands above another: then `score` and `rank` are pairs.

    `row` is the document's row in what was given; the members' parts add up to the score.
    """

    row: int
    score: typing.Any
    rank: typing.Any
    members: list[MemberExplanation]
    against: int | None = None

    def __str__(self) -> str:
        where = f"row {self.row}" if self.against is None else f"row {self.row} against row {self.against}"
        text = [f"{where}: rank {self.rank}, score {self.score}"]
        for member in self.members:
            text.append(f"{member.kind}: score {member.score}, part {member.part}")
            for frame in (member.rules, member.terms):
                if frame is not None and len(frame):
                    shown = frame.drop(columns=[c for c in ("antecedent", "share") if c in frame])
                    text.append(shown.head(10).to_string(index=False))
        return "\n".join(text)


def _rules_frame(rows, compares):
    import pandas as pd

    columns = ["rule", "moves", "support", "documents", "confidence", "label", "antecedent", "share"]
    if compares:
        columns += ["first", "second"]
    for row in rows:
        row["antecedent"] = tuple(row["antecedent"])
        row["rule"] = " and ".join(row["antecedent"]) + f" -> {row['label']}"
    frame = pd.DataFrame(rows, columns=columns)
    return frame.sort_values("moves", key=abs, ascending=False, kind="stable", ignore_index=True)


def _member(found, compares):
    import pandas as pd

    plural = "s" if compares else ""
    made = MemberExplanation(found["member"], found["score" + plural], found["rank" + plural],
                             found["part" + plural], found.get("mean"), found.get("deviation"))
    if found["kind"] == "rules":
        made.rules = _rules_frame(found["rules"], compares)
        made.items = pd.DataFrame(found["items"], columns=["item", "moves", "rules", "feature"])
        made.details = {key: found[key] for key in ("numerator", "denominator", "mean_label", "itemsets",
                                                    "training_documents", "rule_count") if key in found}
    else:
        made.terms = pd.DataFrame(found["terms"])
    return made


def explanation_of(found, row, against=None):
    """`found`: what the library's explainer says, as dictionaries."""
    compares = against is not None
    plural = "s" if compares else ""
    return Explanation(row, found["score" + plural], found["rank" + plural],
                       [_member(one, compares) for one in found["members"]], against)
