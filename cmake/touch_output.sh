#!/usr/bin/env bash
# touch_output.sh COMPILER ARGUMENT... -o OUTPUT...: a launcher for -fsyntax-only, which writes no object. ninja takes the empty
# one for what it compiled, and compiles again only what changed.
set -eu
"$@"
while [[ $1 != -o ]]; do shift; done
touch "$2"
