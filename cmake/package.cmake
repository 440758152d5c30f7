# `cmake --install` and what find_package(rulerank) finds afterwards.
