#!/usr/bin/env python3
"""grouped_header.py ROOT HEADER: prints a header for Doxygen.

All declarations of its namespace form one group, named by the header's path, which a page of the reference shows. Comments lose
their commands, and numbers lose their separators, which Sphinx does not read."""

import pathlib
import re
import sys

root, header = map(pathlib.Path, sys.argv[1:])
group = re.sub(r"\W", "_", str(header.relative_to(root).with_suffix("")))
text = re.sub(r"(?<=\d)'(?=\d)", "", header.read_text()).replace("::inline v0", "")  # Doxygen shows no inline namespace
text = re.sub(r"///.*", lambda comment: re.sub(r"[@\\]", r"\\\g<0>", comment[0]), text)
text = re.sub(r"^(namespace rulerank[\w:]* \{)\n\n", rf"\1\n/** @addtogroup {group}\n@{{ */\n\n", text, flags=re.M)
# A namespace that only declares a name or two has no blank lines at its ends, and no group.
print(re.sub(r"\n\n(\}  // namespace rulerank)", r"\n\n/** @} */\n\1", text), end="")
