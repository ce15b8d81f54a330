"""What a source says of a kernel, for help()."""
import re


def kernel_doc(source, name):
    """The comment in front of a kernel, and its head, as they stand there."""
    match = re.search(rf"^[ \t]*(?:@[^\n]*\s+)?kernel\s+{re.escape(name)}\b[^{{]*", source or "", re.MULTILINE)
    if not match:
        return f"kernel {name}"
    comment = []
    for line in reversed(source[:match.start()].splitlines()):
        if not line.lstrip().startswith("#"):
            break
        comment.insert(0, line.lstrip().lstrip("#").strip())
    head = re.sub(r"\s+", " ", match.group()).strip()
    return "\n".join(comment + ([""] if comment else []) + [head])
