#!/usr/bin/env python3
"""summary.py REPORT.xml...: prints the failed and the skipped tests of runs of ctest and pytest, and why they were skipped.

The last line is always `N passed, N failed, N skipped`.
"""

import collections
import re
import sys
import xml.etree.ElementTree


def reason(case):
    """The reason of pytest, or that of GTEST_SKIP in the line after `Skipped`; real data by their top folder."""
    said = case.find("skipped").get("message")
    if case.find("system-out") is None and said:
        return said
    found = re.search(r": Skipped\n(.*)", case.findtext("system-out") or "")
    if not found:
        return "no reason given"
    data = re.match(r"needs (\w+[\w.-]*)\S* in \$RULERANK_TEST_DATA", found[1])
    return f"real data {data[1]} not in $RULERANK_TEST_DATA" if data else found[1].strip()


def main():
    try:
        cases = [case for report in sys.argv[1:]
                 for case in xml.etree.ElementTree.parse(report).getroot().iter("testcase")]
    except (OSError, xml.etree.ElementTree.ParseError) as failure:
        sys.exit(f"error: found no report of tests, expected JUnit's XML: {failure}")
    failed = [case for case in cases if case.find("failure") is not None or case.find("error") is not None]
    skipped = [case for case in cases if case.find("skipped") is not None]
    for case in failed:
        print("failed:", case.get("name"))
    reasons = collections.Counter(reason(case) for case in skipped)
    print("skipped:", "; ".join(f"{n} x {why}" for why, n in reasons.most_common()) or "nothing")
    passed = len(cases) - len(failed) - len(skipped)
    print(f"{passed} passed, {len(failed)} failed, {len(skipped)} skipped")


if __name__ == "__main__":
    main()
