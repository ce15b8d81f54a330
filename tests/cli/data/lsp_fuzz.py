"""Damaged input for `kjit lsp`: lsp_fuzz.py KJIT SESSIONS SEED. Each session is a few messages of which some are damaged:
their bytes, their headers, their JSON, what they ask for and where. The server may answer as it likes, in messages that
can be read; it ends with 0 after a shutdown and with 1 without, and by no signal."""
import json
import random
import subprocess
import sys

from lsp import frame

kjit, sessions, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
URI = "file:///tmp/none/fuzz.knl"
TEXTS = [
    "kernel k(a: f32[]) {\n    let i = grid(1)\n    a[i] = f\"{i} {'x'}\"\n}\n",
    "fn f<T: num>(x: T, y: T = ((1 -> T {\n    for a, b in enumerate(x) { with a as c, b as d { return c.y(z=3)\n",
    "use \"none.knl\" as n\nuse std.sort\nenum E { A, B = A + 1 }\nrecord R { x: f32 }\nrun { let r = n.E.A.x.y.z(R=E.A)[",
    "\u00e9\U0001f600 \x00 '\\\n\r\"\nf\"{{{x:8.3f}}} {f\"{f\"{1}\"}\"}\n#\n/* let \r\n", "", "}" * 50 + "{" * 400 + "(" * 400 + "\nlet x = 1\n"]
METHODS = ["hover", "definition", "references", "documentHighlight", "documentSymbol", "rename", "prepareRename", "completion",
           "signatureHelp", "formatting", "codeAction", "didChange", "didSave", "didClose", "didOpen", "nothing"]


def position(r):
    return {"line": r.choice([0, 1, 2, 3, 10 ** 9, 2 ** 40, -1]), "character": r.choice([0, 1, 4, 9, 17, 10 ** 9, 2 ** 62, -3])}


def junk(r, deep=0):
    """Any JSON."""
    kinds = [lambda: None, lambda: r.random() * 1e300, lambda: r.randrange(-2 ** 63, 2 ** 63), lambda: r.choice(TEXTS), lambda: URI]
    if deep < 3:
        kinds += [lambda: [junk(r, deep + 1) for _ in range(r.randrange(4))],
                  lambda: {r.choice(["textDocument", "position", "uri", "text", "range", "line"]): junk(r, deep + 1)
                           for _ in range(r.randrange(4))}]
    return r.choice(kinds)()


def params(r):
    place = {"start": position(r), "end": position(r)}
    out = {"textDocument": {"uri": URI, "text": r.choice(TEXTS), "version": r.randrange(9)}, "position": position(r),
           "range": place, "newName": r.choice(["z", "for", "", "\u00e9", "x" * 300]), "context": {"diagnostics": []},
           "contentChanges": [{"range": place, "text": r.choice(TEXTS)}, {"text": r.choice(TEXTS)}][r.randrange(2):]}
    if r.random() < 0.2: # one is anything, or missing
        out[r.choice(list(out))] = junk(r)
    if r.random() < 0.1:
        out.pop(r.choice(list(out)))
    return junk(r) if r.random() < 0.05 else out


def message(r, number):
    method = r.choice(METHODS)
    out = {"jsonrpc": "2.0", "method": "textDocument/" + method, "params": params(r)}
    if not method.startswith("did"):
        out["id"] = number
    if r.random() < 0.1:
        out[r.choice(["id", "method", "params"])] = junk(r)
    if r.random() < 0.05:
        out = {"method": "$/cancelRequest", "params": {"id": number + 1}}
    return out


def damaged(r, data):
    """The bytes of a message, with a mistake in most."""
    kind = r.randrange(9)
    if kind == 0: # some bytes are others
        data = bytearray(data)
        for _ in range(r.randrange(1, 9)):
            data[r.randrange(len(data))] = r.randrange(256)
        return bytes(data)
    if kind == 1: # some are missing, or are there twice
        a, b = sorted(r.randrange(len(data)) for _ in range(2))
        return data[:a] + data[b:] if r.random() < 0.5 else data[:b] + data[a:]
    if kind == 2:
        return r.choice([b"Content-Length: 99999999999999999999999\r\n\r\n", b"Content-Length: -5\r\n\r\n", b"Content-Length:\r\n\r\n",
                         b"Content-Length: 0\r\n\r\n", b"\r\n\r\n", b"Content-Type: x\r\n\r\n", b"x" * 5000,
                         b"Content-Length: 134217729\r\n\r\n{}"]) + data
    if kind == 3:
        return frame(r.choice([b"[" * 100000, b"{\"id\":", b"nul", b"\xff\xfe", b"[1,2]", b"3", b"\"\\ud800\"", b"{\"a\":" * 3000]))
    return data


def session(r):
    out = [frame({"id": 0, "method": "initialize", "params": {"capabilities": {"general": {"positionEncodings": ["utf-8"]}}
                                                              if r.random() < 0.5 else {}}})] if r.random() < 0.95 else []
    out.append(frame({"method": "textDocument/didOpen", "params": {"textDocument": {"uri": URI, "text": r.choice(TEXTS)}}}))
    out += [damaged(r, frame(message(r, i + 1))) for i in range(r.randrange(1, 12))]
    ends = r.random() < 0.5
    if ends:
        out += [b"\r\n\r\n", frame({"id": "end", "method": "shutdown"}), frame({"method": "exit"})]
    return b"".join(out)


def answers(data):
    """The messages of the server; whether one says that it was shut down."""
    shut = False
    while data:
        header, data = data.split(b"\r\n\r\n", 1)
        size = int(header.removeprefix(b"Content-Length: "))
        told = json.loads(data[:size])
        assert told["jsonrpc"] == "2.0" and ("method" in told or "id" in told), told
        assert "error" not in told or {"code", "message"} <= set(told["error"]), told
        shut |= told.get("id") == "end" and "result" in told
        data = data[size:]
    return shut


for number in range(sessions):
    r = random.Random(seed * 1000003 + number)
    data = session(r)
    done = subprocess.run([kjit, "lsp"], input=data, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=100)
    try:
        shut = answers(done.stdout)
        assert done.returncode == (0 if shut else 1) and done.stderr == b"", (done.returncode, done.stderr)
    except Exception:
        print(f"session {number}: {data!r}")
        raise
print(f"{sessions} sessions")
