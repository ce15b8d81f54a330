"""Reads an object a line and shows what is in it: read_json.py FILE"""
import json
import sys

for line in open(sys.argv[1], encoding="utf-8"):
    d = json.loads(line)
    assert d["file"].endswith("broken.knl") and d["endLine"] >= d["line"] and d["endColumn"] >= 1
    print(d["line"], d["column"], d["severity"], d["code"], d["message"])
