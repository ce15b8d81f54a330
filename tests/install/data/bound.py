#!/usr/bin/env python3
"""bound.py pattern binding api.json: nothing, where the functions that the pattern finds in the binding are those of kjit.h."""
import json
import re
import sys

pattern, binding, description = sys.argv[1:]
with open(binding) as f:
    found = {"".join(groups) if isinstance(groups, tuple) else groups for groups in re.findall(pattern, f.read(), re.M)}
with open(description) as f:
    api = json.load(f)
wanted = set(api["functions"]) | set(api["inlines"])
if wanted - found:
    sys.exit("the binding has no " + ", ".join(sorted(wanted - found)))
