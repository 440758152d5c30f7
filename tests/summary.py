#!/usr/bin/env python3
"""summary.py REPORT.xml: what a run of ctest failed and skipped, and why it skipped.

The last line is always `N passed, N failed, N skipped`.
"""

import collections
import re
import sys
import xml.etree.ElementTree


def reason(output):
    """What GTEST_SKIP said, in the line behind `Skipped`; real data by their top folder."""
    found = re.search(r": Skipped\n(.*)", output)
    if not found:
        return "no reason given"
    data = re.match(r"needs (\w+[\w.-]*)\S* in \$RULERANK_TEST_DATA", found[1])
    return f"real data {data[1]} not in $RULERANK_TEST_DATA" if data else found[1].strip()


def main():
    cases = list(xml.etree.ElementTree.parse(sys.argv[1]).getroot().iter("testcase"))
    failed = [case for case in cases if case.find("failure") is not None]
    skipped = [case for case in cases if case.find("skipped") is not None]
    for case in failed:
        print("failed:", case.get("name"))
    reasons = collections.Counter(reason(case.findtext("system-out") or "") for case in skipped)
    print("skipped:", "; ".join(f"{n} x {why}" for why, n in reasons.most_common()) or "nothing")
    passed = len(cases) - len(failed) - len(skipped)
    print(f"{passed} passed, {len(failed)} failed, {len(skipped)} skipped")


if __name__ == "__main__":
    main()
