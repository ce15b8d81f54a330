"""A client for `kjit lsp`: starts it, sends messages, waits for answers and notifications."""
import json
import os
import pathlib
import subprocess
import threading

SECONDS = 100  # after which the server is killed: what waits then fails


def frame(message):
    body = message if isinstance(message, bytes) else json.dumps(message).encode()
    return b"Content-Length: %d\r\n\r\n" % len(body) + body


class Failure(Exception):
    """An error that the server answered with."""

    def __init__(self, error):
        super().__init__(error["message"])
        self.code, self.message = error["code"], error["message"]


class Client:
    def __init__(self, command, **initialize):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.timer = threading.Timer(SECONDS, self.process.kill)
        self.timer.daemon = True
        self.timer.start()
        self.last, self.diagnostics, self.answers = 0, {}, {}
        self.texts, self.versions = {}, {}
        self.capabilities = self.request("initialize", {"processId": os.getpid(), "capabilities": {}, **initialize})
        self.notify("initialized", {})

    def write(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def read(self):
        """The next message; None at the end."""
        length = None
        while True:
            line = self.process.stdout.readline()
            if not line:
                return None
            if line == b"\r\n":
                break
            name, value = line.split(b":")
            assert name == b"Content-Length", line
            length = int(value)
        return json.loads(self.process.stdout.read(length))

    def take(self):
        """Reads a message and keeps it."""
        message = self.read()
        assert message is not None, "the server ended"
        if message.get("method") == "textDocument/publishDiagnostics":
            self.diagnostics[message["params"]["uri"]] = message["params"]
        elif "id" in message:
            self.answers[message["id"]] = message

    def ask(self, method, params):
        """Sends a request; its id."""
        self.last += 1
        self.write(frame({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params}))
        return self.last

    def answer(self, number):
        while number not in self.answers:
            self.take()
        message = self.answers.pop(number)
        if "error" in message:
            raise Failure(message["error"])
        return message["result"]

    def request(self, method, params=None):
        return self.answer(self.ask(method, params))

    def notify(self, method, params):
        self.write(frame({"jsonrpc": "2.0", "method": method, "params": params}))

    # ---- Documents ----

    def open(self, path, text=None):
        uri = pathlib.Path(path).absolute().as_uri()
        self.texts[uri] = pathlib.Path(path).read_text() if text is None else text
        self.versions[uri] = 1
        self.notify("textDocument/didOpen", {"textDocument": {"uri": uri, "languageId": "knl", "version": 1,
                                                              "text": self.texts[uri]}})
        return uri

    def change(self, uri, old, new, count=1):
        """Replaces the first `old` of the text by `new`, as one change of a range."""
        begin = self.texts[uri].index(old)
        change = {"range": {"start": self.at(uri, begin), "end": self.at(uri, begin + len(old))}, "text": new}
        self.texts[uri] = self.texts[uri].replace(old, new, 1)
        self.send_change(uri, [change])

    def send_change(self, uri, changes):
        self.versions[uri] += 1
        self.notify("textDocument/didChange", {"textDocument": {"uri": uri, "version": self.versions[uri]},
                                               "contentChanges": changes})

    def told(self, uri):
        """The diagnostics of the text as it is now."""
        while self.diagnostics.get(uri, {}).get("version") != self.versions[uri]:
            self.take()
        return self.diagnostics[uri]["diagnostics"]

    def at(self, uri, place):
        """The position of a character of the text, or of the first that it has of a text; "a|b": of what is behind the |."""
        text = self.texts[uri]
        if isinstance(place, str):
            before, _, behind = place.partition("|") if "|" in place else ("", "", place)
            place = text.index(before + behind) + len(before)
        before = text[:place]
        line = before.count("\n")
        units = before[before.rfind("\n") + 1:].encode("utf-16-le")
        return {"line": line, "character": len(units) // 2}

    def ask_at(self, method, uri, place, **more):
        return self.request("textDocument/" + method, {"textDocument": {"uri": uri}, "position": self.at(uri, place), **more})

    def slice(self, uri, place, text=None):
        """The text of a range."""
        lines = (text or self.texts[uri]).split("\n")
        lines = [line.encode("utf-16-le") for line in lines]
        (a, i), (b, k) = [(place[end]["line"], 2 * place[end]["character"]) for end in ("start", "end")]
        inside = [lines[a][i:k]] if a == b else [lines[a][i:], *lines[a + 1:b], lines[b][:k]]
        return "\n".join(line.decode("utf-16-le") for line in inside)

    def apply(self, uri, edits):
        """The text after the edits, and the server knows of it."""
        text = self.texts[uri]
        lines = text.split("\n")

        def offset(position):
            line = lines[position["line"]].encode("utf-16-le")
            return sum(len(line) + 1 for line in lines[:position["line"]]) + len(
                line[:2 * position["character"]].decode("utf-16-le"))

        places = sorted(((offset(e["range"]["start"]), offset(e["range"]["end"]), e["newText"]) for e in edits), reverse=True)
        for begin, end, new in places:
            text = text[:begin] + new + text[end:]
        self.texts[uri] = text
        self.send_change(uri, [{"text": text}])
        return text

    def end(self):
        """Shuts the server down; its exit status."""
        assert self.request("shutdown") is None
        self.notify("exit", None)
        self.process.stdin.close()
        status = self.process.wait()
        self.timer.cancel()
        return status
