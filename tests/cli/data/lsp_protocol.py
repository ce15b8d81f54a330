"""How `kjit lsp` speaks: lsp_protocol.py KJIT. What comes in pieces, too early, too late, unknown, cancelled; positions in
bytes and in units of UTF-16; changes one behind the other."""
import pathlib
import subprocess
import sys
import time

from lsp import Client, Failure, frame

kjit = [sys.argv[1], "lsp"]


def run(*messages):
    """What the server answers to all of them at once; and its exit status."""
    done = subprocess.run(kjit, input=b"".join(m if isinstance(m, bytes) else frame(m) for m in messages),
                          stdout=subprocess.PIPE, timeout=100)
    import json
    out, data = [], done.stdout
    while data:
        header, data = data.split(b"\r\n\r\n", 1)
        size = int(header.split(b":")[1])
        out.append(json.loads(data[:size]))
        data = data[size:]
    return out, done.returncode


def code(answer):
    return answer["id"], answer["error"]["code"]


INITIALIZE = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"capabilities": {}}}
SHUTDOWN, EXIT = {"jsonrpc": "2.0", "id": "z", "method": "shutdown"}, {"jsonrpc": "2.0", "method": "exit"}
URI = "file:///nowhere/a%20b.knl"


def opened(text):
    return {"method": "textDocument/didOpen", "params": {"textDocument": {"uri": URI, "version": 1, "text": text}}}


def asked(number, method, line=0, character=0, **more):
    return {"id": number, "method": "textDocument/" + method, "params": {
        "textDocument": {"uri": URI}, "position": {"line": line, "character": character}, **more}}


# ---- The session ----
answers, status = run(asked(1, "hover"), INITIALIZE, SHUTDOWN, asked(2, "hover"), EXIT)
assert [code(answers[0]), code(answers[3])] == [(1, -32002), (2, -32600)] and status == 0, answers
assert answers[2] == {"jsonrpc": "2.0", "id": "z", "result": None}
assert run(INITIALIZE, EXIT)[1] == 1 and run(INITIALIZE)[1] == 1 and run()[1] == 1 and run(INITIALIZE, SHUTDOWN)[1] == 0
answers, status = run(INITIALIZE, INITIALIZE, {"id": 3, "method": "textDocument/none"}, {"method": "none"},
                      {"id": 4, "method": "textDocument/didOpen", "params": 1}, asked(5, "hover"), SHUTDOWN, EXIT)
assert [code(a) for a in answers[1:5]] == [(0, -32600), (3, -32601), (4, -32600), (5, -32602)] and status == 0, answers
print("session")

# ---- What is no message ----
answers, status = run(INITIALIZE, frame(b"{"), frame(b"[]"), b"Content-Length: x\r\n\r\n", frame(b"[" * 5000), frame(b"{}"),
                      b"content-length:2\r\nContent-Type: x\r\n\r\n{}", frame({"id": 7, "result": 1}), b"\r\n", SHUTDOWN, EXIT)
codes = sorted(code(a)[1] for a in answers if "error" in a)
assert codes == [-32700] * 3 + [-32600] * 3 and len(answers) == 8 and status == 0, answers
print("damage")

# ---- Cancelling, before a request had its turn; one that was answered is not there ----
text = "fn f(x: f32) -> f32 {\n    return x\n}\n"
answers, status = run(INITIALIZE, opened(text), asked(1, "hover", 1, 11), asked(2, "hover", 1, 11),
                      {"method": "$/cancelRequest", "params": {"id": 2}}, {"method": "$/cancelRequest", "params": {"id": 99}},
                      SHUTDOWN, EXIT)
by_id = {a.get("id"): a for a in answers}
assert by_id[2]["error"]["code"] == -32800 and "x: f32" in by_id[1]["result"]["contents"]["value"] and status == 0, answers
print("cancelled")

# ---- Bytes one by one ----
client = Client(kjit)
for byte in frame({"id": "slow", "method": "none"}):
    client.write(bytes([byte]))
    if byte in b"\r{":
        time.sleep(0.001)
try:
    client.answer("slow")
    assert False
except Failure as failure:
    assert failure.code == -32601

# ---- Changes: of lines that end in three ways, in order, beyond the end ----
uri = client.open("a.knl", "run {\r\n    let s = \"\U0001f600\"\r    print(s)\n}\n")
assert client.told(uri) == [] or client.told(uri)[0]["code"] == "stray"
client.texts[uri] = "run {\n    print(1)\n}\n"
client.send_change(uri, [
    {"text": "run {\n    print(\"\U0001f600\", xx)\n}"},
    {"range": {"start": {"line": 1, "character": 16}, "end": {"line": 1, "character": 18}}, "text": "y"},
    {"range": {"start": {"line": 9, "character": 3}, "end": {"line": 99, "character": 0}}, "text": "\n"}])
told = client.told(uri)
assert [(one["message"][:3], one["range"]["start"]) for one in told] == [("'y'", {"line": 1, "character": 16})], told
assert client.end() == 0
client = Client(kjit, capabilities={"general": {"positionEncodings": ["utf-32", "utf-8"]}})
assert client.capabilities["capabilities"]["positionEncoding"] == "utf-8"
uri = client.open("b.knl", "run {\n    print(\"\U0001f600\", xx)\n}\n")
told = client.told(uri)
assert told[0]["range"] == {"start": {"line": 1, "character": 18}, "end": {"line": 1, "character": 20}}, told
print("positions")

# ---- Many changes at once are told once, the last ----
client.notify("textDocument/didOpen", {"textDocument": {"uri": "untitled:x", "version": 1, "text": ""}})
burst = []
for number in range(2, 102):
    burst.append(frame({"method": "textDocument/didChange", "params": {
        "textDocument": {"uri": "untitled:x", "version": number}, "contentChanges": [{"text": f"const N = n{number}\n"}]}}))
client.write(b"".join(burst))
count, seen = 0, None
while seen != 101:
    message = client.read()
    count += 1
    seen = message["params"]["version"] if message["params"]["uri"] == "untitled:x" else seen
assert count <= 30 and "n101" in message["params"]["diagnostics"][0]["message"], (count, message)

# ---- Closing takes the messages away ----
client.notify("textDocument/didClose", {"textDocument": {"uri": "untitled:x"}})
while message["params"].get("diagnostics") != []:
    message = client.read()
assert client.end() == 0
print("changes")
