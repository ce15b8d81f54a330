"""Shows a file that kjit test --junit wrote."""
import sys
import xml.etree.ElementTree


def counts(element):
    return " ".join(f"{name} {element.attrib[name]}" for name in ("tests", "failures", "errors"))


root = xml.etree.ElementTree.parse(sys.argv[1]).getroot()
print(counts(root))
for suite in root:
    print("suite", suite.attrib["name"], counts(suite))
    for case in suite:
        assert float(case.attrib["time"]) >= 0
        what = "passed" if len(case) == 0 else f"{case[0].tag} {ascii(case[0].attrib['message'])}"
        assert len(case) == 0 or case[0].text.startswith(case[0].attrib["message"])
        printed = case.find("system-out")
        print(f"{case.attrib['name']}, line {case.get('line')}: {what}" +
              (f", printed {ascii(printed.text)}" if printed is not None else ""))
