#!/usr/bin/env python3
"""The server of `areal view`: its answers equal NumPy's, its pages agree, and what a hostile client or page sends is refused. Attacks are
raw sockets. It first proves that the comparison finds a wrong digit."""

import argparse
import csv
import ctypes
import io
import json
import os
import pathlib
import re
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

import numpy as np
import websocket
from view_server import Server, command_of, differences, differing_distances, distances_of, expected, percentile_of, scale_of

SEED = int(os.environ.get("AREAL_TEST_SEED", "20261126"))


# ---------------------------------------------------------------- raw HTTP

def exchange(server, data, wait=5.0):
    """Sends bytes; returns all bytes until the server closes, accepts a WebSocket or is silent for some seconds."""
    with socket.create_connection(("127.0.0.1", server.port), wait) as link:
        link.sendall(data)
        link.settimeout(4.0)
        found = b""
        try:
            while not (found.startswith(b"HTTP/1.1 101 ") and b"\r\n\r\n" in found) and (piece := link.recv(65536)):
                found += piece
        except (TimeoutError, ConnectionResetError):
            pass
        return found


def request(server, path="", *, host=None, method="GET", token=None, version="1.1", extra=()):
    lines = [f"{method} /{server.token if token is None else token}/{path} HTTP/{version}", *([f"Host: {host or server.host}"]), *extra, "Connection: close", "", ""]
    return "\r\n".join(lines).encode("latin-1")


def status(answer):
    return int(answer.split(b" ", 2)[1]) if answer.startswith(b"HTTP/1.1 ") else None


HANDSHAKE = ("Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==")


def handshake(server, *extra, host=None, token=None):
    lines = [f"GET /{server.token if token is None else token}/ws HTTP/1.1", f"Host: {host or server.host}", *HANDSHAKE, *extra, "", ""]
    return "\r\n".join(lines).encode("latin-1")


def check_requests(server):
    base = server.host
    good = exchange(server, request(server))
    assert status(good) == 200 and b"<!doctype html>" in good, good[:200]
    for header in (b"Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; "
                   b"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types default\r\n",
                   b"X-Content-Type-Options: nosniff\r\n", b"Cross-Origin-Resource-Policy: same-origin\r\n", b"Cache-Control: no-store\r\n",
                   b"Referrer-Policy: no-referrer\r\n"):
        assert header in good, header
    assert b"Access-Control" not in good

    wrong_tokens = ["0" * 32, server.token[:-1], server.token + "0", server.token.upper() if server.token.upper() != server.token else "A" * 32, "",
                    server.token[:31] + ("0" if server.token[31] != "0" else "1")]
    for token in wrong_tokens:
        answer = exchange(server, request(server, token=token))
        assert status(answer) == 404 and answer.endswith(b"\r\n\r\n") and b"Content-Security-Policy" not in answer, (token, answer)
    assert status(exchange(server, b"GET / HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n" % base.encode())) == 404

    page = f"/{server.token}/"
    def raw(*lines):
        return "\r\n".join([*lines, "", ""]).encode("latin-1")
    malformed = {
        "no Host": raw(f"GET {page} HTTP/1.1"),
        "two Hosts": raw(f"GET {page} HTTP/1.1", f"Host: {base}", f"Host: {base}"),
        "two Hosts, one foreign": raw(f"GET {page} HTTP/1.1", f"Host: {base}", "Host: example.org"),
        "an absolute target": raw(f"GET http://{base}{page} HTTP/1.1", f"Host: {base}"),
        "an authority": raw(f"CONNECT {base} HTTP/1.1", f"Host: {base}"),
        "an asterisk": raw("OPTIONS * HTTP/1.1", f"Host: {base}"),
        "a folded header": raw(f"GET {page} HTTP/1.1", f"Host: {base}", "X: a", " b"),
        "a folded Host": raw(f"GET {page} HTTP/1.1", "Host:", f" {base}"),
        "a tab-folded header": raw(f"GET {page} HTTP/1.1", f"Host: {base}", "X: a", "\tb"),
        "bare line feeds": f"GET {page} HTTP/1.1\nHost: {base}\n\r\n\r\n".encode(),
        "a bare carriage return": f"GET {page} HTTP/1.1\r\nHost: {base}\rX: y\r\n\r\n".encode(),
        "NUL": f"GET {page} HTTP/1.1\r\nHost: {base}\r\nX: \0\r\n\r\n".encode(),
        "bytes beyond ASCII": f"GET {page} HTTP/1.1\r\nHost: {base}\r\nX: \xe9\r\n\r\n".encode("latin-1"),
        "HTTP/1.0": raw(f"GET {page} HTTP/1.0", f"Host: {base}"),
        "HTTP/2's preface": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        "a body": raw(f"GET {page} HTTP/1.1", f"Host: {base}", "Content-Length: 3") + b"abc",
        "a body of no bytes": raw(f"GET {page} HTTP/1.1", f"Host: {base}", "Content-Length: 0"),
        "chunks": raw(f"GET {page} HTTP/1.1", f"Host: {base}", "Transfer-Encoding: chunked") + b"0\r\n\r\n",
        "a header without a colon": raw(f"GET {page} HTTP/1.1", f"Host: {base}", "nonsense"),
        "a space before the colon": raw(f"GET {page} HTTP/1.1", f"Host : {base}"),
        "nothing": b"\r\n\r\n",
        "TLS": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n",
        "an upgrade of the page": raw(f"GET {page} HTTP/1.1", f"Host: {base}", *HANDSHAKE),
    }
    for what, data in malformed.items():
        answer = exchange(server, data)
        assert status(answer) == 400 and b"doctype" not in answer, (what, answer[:200])
    assert status(exchange(server, raw(f"GET {page} HTTP/1.1", f"Host: {base}", "X: " + "a" * 9000))) == 431
    assert status(exchange(server, b"GET /" + b"a" * 9000)) == 431  # without an end

    for host in ("example.org", "127.0.0.1.example.org", "localhost.example.org", f"127.0.0.1:{server.port}@example.org", "127.0.0.1:", "127.0.0.1:123456",
                 "127.0.0.2", "[::2]", "0.0.0.0", "localhost:80x"):
        assert status(exchange(server, request(server, host=host))) == 403, host
    for host in ("127.0.0.1", "localhost", "[::1]", "localhost:8765", "[::1]:1", "127.0.0.1:65535"):
        assert status(exchange(server, request(server, host=host))) == 200, host
    for method in ("POST", "HEAD", "OPTIONS", "PUT", "DELETE", "TRACE"):
        assert status(exchange(server, request(server, method=method))) == 405, method

    def fetched(path, **fields):
        return status(exchange(server, request(server, path, extra=[f"{key.replace('_', '-')}: {value}" for key, value in fields.items()])))
    navigates = {"Sec_Fetch_Mode": "navigate", "Sec_Fetch_Dest": "document"}
    for path in ("", "picture.json", "tile/1/0/0/0/0", "app/main.js", "export/regions.csv"):
        assert fetched(path, Sec_Fetch_Site="same-origin") == fetched(path, Sec_Fetch_Site="none") == 200, path
        for site in ("cross-site", "same-site", "nonsense"):
            assert fetched(path, Sec_Fetch_Site=site) == 403, (path, site)
            assert fetched(path, Sec_Fetch_Site=site, **navigates) == (200 if path == "" else 403), (path, site)
        assert fetched(path, Origin="http://example.org") == fetched(path, Origin="null") == 403, path
        assert fetched(path, Origin=f"http://{base}") == 200, path
    assert fetched("", Sec_Fetch_Site="cross-site", Sec_Fetch_Mode="navigate", Sec_Fetch_Dest="iframe") == 403

    # Paths and numbers.
    for path in ("../", "app/../../etc/passwd", "app/%2e%2e/%2e%2e/etc/passwd", "app//etc/passwd", "/etc/passwd", "app/", "app", "app/page.html/", "app/main.js?x",
                 "app/..%5c..%5cetc", "?", "picture.json#x", "export/", "export/passwd.csv", "tile/", "tile/1/0/0/0", "tile/1/0/0/0/0/0", "tile/1/0/0/0/0/",
                 "tile/1/0/0/0/9", "tile/1/0/9/0/0", "tile/1/99/0/0/0", "tile/2/0/0/0/0", "tile/0/0/0/0/0", "tile/1/0/0/-1/0", "tile/1/0/0/+1/0", "tile/1/0/0/00/0",
                 "tile/1/0/0/0x0/0", "tile/1/0/0/18446744073709551615/0", "tile/1/0/0/18446744073709551616/0", "tile/1/0/0/9223372036854775808/0", "tile/1/0/0/1e0/0",
                 "tile/1/0/0/ 0/0"):
        found = status(exchange(server, request(server, path)))
        assert found == 404 or (" " in path and found == 400), (path, found)

    # The listening socket is of 127.0.0.1 alone.
    for address in ("127.0.0.2", "::1"):
        try:
            socket.create_connection((address, server.port), 2).close()
            raise AssertionError(f"{address} was listened on")
        except OSError:
            pass

    # Requests one after another on a connection, and two at once.
    keep = request(server, "picture.json").replace(b"Connection: close\r\n", b"")
    with socket.create_connection(("127.0.0.1", server.port), 5) as link:
        link.sendall(keep + keep)
        found = b""
        while found.count(b"HTTP/1.1 200") < 2 or not found.endswith(b"}"):
            found += link.recv(65536)
        link.sendall(keep)
        assert link.recv(65536).startswith(b"HTTP/1.1 200")


def check_handshakes(server):
    origin = f"Origin: http://{server.host}"
    assert status(exchange(server, handshake(server, origin))) == 101
    assert status(exchange(server, handshake(server))) == 403
    for other in ("null", "http://example.org", f"https://{server.host}", f"http://{server.host}.example.org", f"http://localhost:{server.port}", f"http://{server.host}/"):
        assert status(exchange(server, handshake(server, f"Origin: {other}"))) == 403, other
    assert status(exchange(server, handshake(server, origin, origin))) == 403
    assert status(exchange(server, handshake(server, origin, "Sec-Fetch-Site: cross-site"))) == 403
    assert status(exchange(server, handshake(server, origin, token="0" * 32))) == 404
    assert status(exchange(server, handshake(server, "Origin: http://example.org", host="example.org"))) == 403
    assert status(exchange(server, request(server, "ws", extra=[origin]))) == 426
    assert status(exchange(server, handshake(server, origin) + b"\x81\x00")) == 400  # sent before the answer
    with_port = f"localhost:{server.port + 1}"  # as ssh -L makes it
    assert status(exchange(server, handshake(server, f"Origin: http://{with_port}", host=with_port))) == 101


# ---------------------------------------------------------------- WebSocket

def connect(server, timeout=10):
    link = websocket.create_connection(f"ws://{server.host}/{server.token}/ws", origin=f"http://{server.host}", timeout=timeout)
    first = json.loads(link.recv())
    assert set(first) == {"regions", "revision"}, first
    return link


def ask(link, message):
    """The answer to a message, by its n; broadcasts are skipped."""
    link.send(message if isinstance(message, str) else json.dumps(message))
    wanted = message.get("n", 0) if isinstance(message, dict) else 0
    while True:
        found = json.loads(link.recv())
        if found.get("n") == wanted:
            return found


def check_messages(server):
    link = connect(server)
    picture = server.picture()
    width, height = picture["width"], picture["height"]
    whole = [0, 0, width, height]
    wrong = ["", "{", "[]", "1", "null", '"ask"', "{}", '{"n":1}', '{"do":"ask"}', '{"do":"ask","n":0,"regions":[]}', '{"do":"ask","n":1e3,"regions":[]}',
             '{"do":"ask","n":-1,"regions":[]}', '{"do":"ask","n":18446744073709551615,"regions":[]}', '{"do":"ask","n":9007199254740993,"regions":[]}',
             '{"do":"ask","n":"1","regions":[]}', "[" * 20 + "]" * 20, '{"n":' + "[" * 8 + "]" * 8 + "}", "{" + '"a":{' * 9 + "}" * 10, '{"n":1}x', "\\u0000", '{"n":NaN}']
    for text in wrong:
        link.send(text)
        found = json.loads(link.recv())
        assert "error" in found and len(found["error"]) < 300 and "\n" not in found["error"], (text, found)
    bad = [{"do": "ask"}, {"do": "ask", "regions": {}}, {"do": "ask", "regions": [1]}, {"do": "ask", "regions": [[1, 0, 0, 1]]}, {"do": "ask", "regions": [[1, 0, 0, 1, 1, 1]]},
           {"do": "ask", "regions": [["1", 0, 0, 1, 1]]}, {"do": "ask", "regions": [[1, 0.5, 0, 1, 1]]}, {"do": "ask", "regions": [[1, 0, 0, width + 1, 1]]},
           {"do": "ask", "regions": [[1, -1, 0, 1, 1]]}, {"do": "ask", "regions": [[1, 0, 0, -1, 1]]}, {"do": "ask", "regions": [[1, 2 ** 53, 0, 2 ** 53, 1]]},
           {"do": "ask", "regions": [[1, 2 ** 63, 0, 1, 1]]}, {"do": "ask", "regions": [[i, 0, 0, 1, 1] for i in range(65)]}, {"do": "ask", "regions": [], "channel": -1},
           {"do": "ask", "regions": [], "channel": len(picture["channels"])}, {"do": "ask", "regions": [], "channel": "luma"}, {"do": "ask", "regions": [], "final": 1},
           {"do": "ask", "regions": [], "reference": 1}, {"do": "ask", "regions": [[1, 0, 0, 1, 1]], "reference": 2}, {"do": "ask", "regions": [[1, 0, 0, 1, 1]], "reference": "1"},
           {"do": "ask", "regions": [[1, 0, 0, 1, 1]], "reference": 1.5}, {"do": "ask", "regions": [[1, 0, 0, 1, 1]], "reference": 2 ** 60},
           {"do": "set"}, {"do": "set", "box": [0, 0, 0, 1]}, {"do": "set", "box": [0, 0, 1, height + 1]}, {"do": "set", "box": [width, 0, 1, 1]}, {"do": "set", "box": [0, 0, 1]},
           {"do": "set", "box": whole, "id": 12345}, {"do": "set", "box": whole, "id": 0}, {"do": "set", "box": whole, "id": -1}, {"do": "set", "box": whole, "name": 5},
           {"do": "set", "box": whole, "name": "a" * 65}, {"do": "set", "box": whole, "name": "ä" * 65}, {"do": "set", "box": whole, "name": "a\nb"},
           {"do": "set", "box": whole, "name": "\x00"}, {"do": "remove"}, {"do": "remove", "id": 99}, {"do": "remove", "id": None}, {"do": "delete", "id": 1}, {"do": 7}, {"do": None},
           {"do": "range"}, {"do": "range", "range": [1]}, {"do": "range", "range": [1, 2, 3]}, {"do": "range", "range": ["1", 2]}, {"do": "range", "range": [5, 5]}, {"do": "range", "range": [5, 4]},
           {"do": "range", "range": {"low": 1}}, {"do": "range", "range": [None, 4]}]
    for n, message in enumerate(bad, 1):
        found = ask(link, {"n": n, **message})
        assert "error" in found and len(found["error"]) < 300, (message, found)
    assert ask(link, {"do": "set", "n": 1000, "name": "ä" * 64, "box": whole})["id"] == 1  # 64 characters are allowed
    assert ask(link, {"do": "remove", "n": 1001, "id": 1})["id"] == 1

    # Two pages agree, and ids are never given again.
    other = connect(server)
    assert ask(link, {"do": "set", "n": 2000, "id": None, "name": "fin <b>&", "box": [1, 2, 3, 4]}) == {"n": 2000, "id": 2}
    seen = json.loads(other.recv())
    assert seen["regions"] == [{"id": 2, "name": "fin <b>&", "box": [1, 2, 3, 4]}], seen
    revision = seen["revision"]
    other.send(json.dumps({"do": "set", "n": 1, "id": 2, "name": "", "box": [0, 0, 1, 1]}))
    while (seen := json.loads(link.recv())).get("revision", 0) <= revision:
        pass
    assert seen["regions"] == [{"id": 2, "name": "", "box": [0, 0, 1, 1]}], seen
    assert ask(link, {"do": "remove", "n": 2001, "id": 2})["id"] == 2
    other.close()

    # The range of histograms is that of all pages.
    other = connect(server)
    assert ask(link, {"do": "range", "n": 2100, "range": [10, 99.5]}) == {"n": 2100}
    assert json.loads(other.recv()) == {"range": [10, 99.5]} and server.picture()["range"] == [10, 99.5]
    found = ask(link, {"do": "ask", "n": 2101, "regions": [[1, *whole]]})
    assert found["range"] == [10, 99.5] and found["regions"][0]["under"] > 0 and sum(found["regions"][0]["histogram"]) + found["regions"][0]["under"] + found["regions"][0]["over"] == width * height, found
    for n in range(2200, 2400):  # of many the newest counts, and each has a reply
        link.send(json.dumps({"do": "range", "n": n, "range": [0, n]}))
    replies = {}
    while len(replies) < 200:
        found = json.loads(link.recv())
        if "n" in found:
            replies[found["n"]] = found.get("error")
    assert set(replies) == set(range(2200, 2400)) and replies[2399] is None and set(replies.values()) <= {None, "a newer range was requested"}, replies
    assert server.picture()["range"] == [0, 2399]
    assert ask(link, {"do": "range", "n": 2102, "range": picture["range"]}) == {"n": 2102}
    other.close()

    # The newest question wins: the last is answered, and answers come in order.
    count = 300
    for n in range(3000, 3000 + count):
        link.send(json.dumps({"do": "ask", "n": n, "regions": [[i, 0, 0, width, 1 + (n + i) % height] for i in range(16)]}))
    answered = []
    while not answered or answered[-1] != 2999 + count:
        found = json.loads(link.recv())
        if "n" in found:
            answered.append(found["n"])
    assert answered == sorted(set(answered)), answered
    print(f"of {count} questions sent at once, {len(answered)} were answered, the newest last")
    link.close()

    # What closes a connection: messages that are too long, are no text or no UTF-8, have no mask, or are cut off.
    def closes(data, what):
        with socket.create_connection(("127.0.0.1", server.port), 5) as raw:
            raw.sendall(handshake(server, f"Origin: http://{server.host}"))
            found = b""
            while b"\r\n\r\n" not in found:
                found += raw.recv(65536)
            raw.settimeout(5)
            raw.sendall(data)
            try:
                while raw.recv(65536):
                    pass
            except ConnectionResetError:
                pass
            except TimeoutError:
                raise AssertionError(f"{what}: the connection stays open") from None
    def frame(opcode, payload, fin=0x80, length=None):
        length = len(payload) if length is None else length
        head = bytes([fin | opcode]) + (bytes([0x80 | length]) if length < 126 else bytes([0xFE]) + struct.pack(">H", length) if length < 65536 else bytes([0xFF]) + struct.pack(">Q", length))
        return head + b"\0\0\0\0" + payload
    closes(frame(1, b" " * 65537), "64 KiB and one byte")
    closes(frame(1, b"x", length=2 ** 40), "a length of a tebibyte")
    closes(frame(1, b"x", length=2 ** 63), "a length of 2^63")
    closes(frame(2, b"{}"), "bytes instead of text")
    closes(frame(1, b'{"n":1,"do":"\xff"}'), "no UTF-8")
    closes(b"\x81\x02{}", "no mask")
    closes(frame(3, b""), "an unknown opcode")
    closes(frame(9, b"x" * 126), "a long ping")
    closes(frame(1, b" " * 40000, fin=0) + frame(0, b" " * 40000), "a long message in two frames")


def soon(call):
    """The result of a call, as soon as it has one: the server may be busy."""
    for attempt in range(100):
        try:
            return call()
        except (OSError, websocket.WebSocketException):
            if attempt == 99:
                raise
            time.sleep(0.2)
    return None


def check_limits(server):
    # A fifth page, and a place for it when another leaves.
    pages = [connect(server) for _ in range(4)]
    assert status(exchange(server, handshake(server, f"Origin: http://{server.host}"))) == 503
    pages.pop().close()
    pages.append(soon(lambda: connect(server)))

    # A page that does not read is dropped, others go on.
    deaf = pages[0]
    box = server.picture()["width"] - 1
    deaf.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    dropped = False
    for n in range(1, 21200):
        if n > 20000:  # the server is behind
            time.sleep(0.05)
        try:
            deaf.send(json.dumps({"do": "set", "n": n, "name": "x" * 64, "box": [0, 0, box, 1]}) if n < 2000 else json.dumps({"do": "set", "n": n, "id": 1 + n % 1000, "name": "y" * 64, "box": [0, 0, box, 1]}))
        except (OSError, websocket.WebSocketException):
            dropped = True
            break
    assert dropped, "a page that does not read was not dropped"
    for page in pages:
        try:
            page.close()
        except (OSError, websocket.WebSocketException):
            pass
    again = soon(lambda: connect(server))
    assert "regions" in ask(again, {"do": "ask", "n": 1, "regions": [[1, 0, 0, 1, 1]]})
    again.close()

    # Many connections: the 33rd is closed at once, and the others still answer.
    keep = request(server, "picture.json")

    def live():
        """How many of 40 connections answer; those before may still be closing."""
        links = [socket.create_connection(("127.0.0.1", server.port), 20) for _ in range(40)]
        count = 0
        for link in links:
            try:
                link.sendall(keep)
                count += link.recv(100).startswith(b"HTTP/1.1 200")
            except OSError:
                pass
        for link in links:  # only now: a connection that is accepted late would take the place of one that has left
            link.close()
        assert count <= 32, count
        if count < 32:
            raise OSError(f"{count} connections answered, not 32")

    soon(live)


class SilentClients:
    """Connections that say too little are closed: after 10 s one whose header comes slowly or never, after 60 s one that is idle after an answer, and a page
    that answers no ping or sends half a message. Seconds are those of the server, whose clock runs several times as fast. Beside other tests, as it waits."""

    CLOCK = 4
    LEAST = {"slow header": 5, "no header": 5, "idle": 30, "silent page": 30, "half a message": 30}  # seconds before which they may not be closed

    def __init__(self, command, tree, build):
        fast = os.environ | {"LD_PRELOAD": str((build / "tests" / "fast_clock.so").resolve(strict=True)), "AREAL_CLOCK": str(self.CLOCK)}
        self.server = Server(command, tree / "data" / "rubberwhale1.png", environment=fast)
        self.links = {name: socket.create_connection(("127.0.0.1", self.server.port), 20) for name in self.LEAST}
        self.links["idle"].sendall(request(self.server, "picture.json").replace(b"Connection: close\r\n", b""))
        assert self.links["idle"].recv(100).startswith(b"HTTP/1.1 200"), "no answer beside two slow headers"
        for name in ("silent page", "half a message"):
            self.links[name].sendall(handshake(self.server, f"Origin: http://{self.server.host}"))
            assert self.links[name].recv(100).startswith(b"HTTP/1.1 101"), name
        self.links["half a message"].sendall(b"\x81\xe4\0\0\0\0" + b'{"do":')  # of 100 bytes
        self.links["slow header"].sendall(b"GET /")
        self.patient = connect(self.server)
        self.patient.settimeout(0.1)
        self.start, self.ended, self.answer = time.monotonic(), {}, None
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def seconds(self):
        return self.CLOCK * (time.monotonic() - self.start)

    def run(self):
        while len(self.ended) < len(self.links) and self.seconds() < 300:
            try:
                self.patient.recv()  # answers pings
            except (OSError, websocket.WebSocketException):  # nothing was sent
                pass
            for name in self.links.keys() - self.ended.keys():
                self.links[name].settimeout(0.1)
                try:
                    if name == "slow header":
                        self.links[name].sendall(b"a")
                    if self.links[name].recv(65536) == b"":
                        self.ended[name] = self.seconds()
                except TimeoutError:
                    pass
                except OSError:
                    self.ended[name] = self.seconds()
        self.patient.settimeout(10)
        self.answer = ask(self.patient, {"do": "ask", "n": 1, "regions": []})

    def check(self):
        self.thread.join()
        for link in (*self.links.values(), self.patient):
            link.close()
        self.server.end()
        assert set(self.ended) == set(self.LEAST) and all(self.ended[name] > least for name, least in self.LEAST.items()), self.ended
        assert self.answer and "regions" in self.answer, "a page that answers pings was closed"
        print("silent connections were closed after", ", ".join(f"{seconds:.0f} s ({name})" for name, seconds in sorted(self.ended.items(), key=lambda one: one[1])))


# ---------------------------------------------------------------- numbers

def check_numbers(command, scratch):
    random = np.random.default_rng(SEED)
    height, width = 211, 307  # primes
    def integers(dtype):
        limits = np.iinfo(dtype)
        pixels = random.integers(limits.min, limits.max, (height, width), dtype=dtype, endpoint=True)
        pixels[0, 0], pixels[-1, -1] = limits.min, limits.max
        return pixels
    floats = random.normal(1000, 3, (height, width))
    with_nan = floats.astype(np.float32)
    with_nan[50, 60] = np.nan
    with_nan[5, 6], with_nan[7, 8] = np.inf, -np.inf
    cases = {dtype: integers(dtype) for dtype in ("u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8")}
    cases |= {"f2": floats.astype(np.float16), "f4": floats.astype(np.float32), "f8": floats * 1e100, "nan": with_nan, "flat": np.full((height, width), 7, np.uint16),
              "row": integers("u2")[:1], "column": integers("u1")[:, :1], "dot": integers("u1")[:1, :1], "bool": random.integers(0, 2, (height, width)).astype(bool)}
    found_wrong = 0
    for name, pixels in cases.items():
        path = scratch / f"{name}.npy"
        np.save(path, pixels)
        numbers = pixels.astype(np.uint8) if pixels.dtype == bool else pixels
        with Server(command, path) as server:
            picture = server.picture()
            high, wide = pixels.shape
            assert (picture["width"], picture["height"]) == (wide, high), picture
            boxes = [[0, 0, wide, high], [wide - 1, high - 1, 1, 1], [0, 0, 1, 1]]
            for _ in range(20):
                x, y = int(random.integers(wide)), int(random.integers(high))
                boxes.append([x, y, int(random.integers(1, wide - x + 1)), int(random.integers(1, high - y + 1))])
            boxes += [[0, 0, min(128, wide), min(128, high)], [64 % wide, 64 % high, 1, 1]]
            link = connect(server)
            answer = ask(link, {"do": "ask", "n": 1, "final": True, "regions": [[i, *box] for i, box in enumerate(boxes)]})
            assert answer["final"] is True
            is_float = pixels.dtype.kind == "f"
            edges = np.linspace(*picture["range"], picture["bins"] + 1)
            for box, found in zip(boxes, answer["regions"], strict=True):
                wanted = expected(numbers, box, picture["bins"], picture["range"]) | {"scale": scale_of(numbers, box)}
                if is_float and not np.isfinite(wanted["scale"]):
                    wanted["scale"] = 0
                wrong = differences(found, wanted, is_float)
                assert not wrong, (name, SEED, box, wrong, {key: (found[key], wanted[key]) for key in wrong})
                if not found["under"] and not found["over"]:
                    for percent, value in found["percentiles"]:
                        want = percentile_of(found["histogram"], edges, percent)
                        assert (value is None) == (want is None) and (want is None or abs(value - want) <= 1e-12 * max(1, abs(want))), (name, box, percent, value, want)
                for key in ("sum", "min", "max", "pixels", "mean"):  # the comparison can fail
                    if found[key] is None or (is_float and not np.isfinite(float(found[key]))):
                        continue
                    planted = float(found[key]) + 1e-9 * (abs(float(found[key])) + wanted["scale"] + 1) if is_float or key == "mean" else int(found[key]) + 1
                    assert differences(found | {key: planted}, wanted, is_float) == [key], (name, box, key, planted)
                    found_wrong += 1
            empty = ask(link, {"do": "ask", "n": 2, "regions": [[1, 0, 0, 0, 0]]})["regions"][0]
            assert empty["pixels"] == 0 and empty["sum"] == "0" and empty["mean"] is empty["std"] is empty["min"] is empty["max"] is None, empty
            link.close()
    assert found_wrong > 1000, found_wrong
    print(f"{len(cases)} kinds of pixels equal NumPy's; {found_wrong} planted errors found")


def check_distances(command, tree):
    """Of a photograph's regions to one of them."""
    random = np.random.default_rng(SEED)
    with Server(command, tree / "data" / "rubberwhale1.png") as server:
        picture, link = server.picture(), connect(server)
        boxes = [[3, 0, 0, picture["width"], picture["height"]]]
        for i in range(7):
            x, y = int(random.integers(picture["width"] - 50)), int(random.integers(picture["height"] - 50))
            boxes.append([10 + i, x, y, int(random.integers(1, 50)), int(random.integers(1, 50))])
        boxes.append([30, 5, 5, 0, 0])  # empty: the measures' maxima
        for n, reference in enumerate((3, 12, 30), 1):
            found = ask(link, {"do": "ask", "n": n, "channel": 2, "regions": boxes, "reference": reference})["regions"]
            target = next(one for one in found if one["id"] == reference)
            for one in found:
                if (one["pixels"] == 0) != (target["pixels"] == 0):
                    wanted = {"l1": 2, "l2": 2 ** 0.5, "chi-square": 2, "hellinger": 1, "intersection": 1, "emd": 255, "kolmogorov-smirnov": 1}
                else:
                    wanted = distances_of(one["histogram"], target["histogram"])
                assert set(one["distances"]) == set(wanted)
                assert not (wrong := differing_distances(one["distances"], wanted)), (SEED, reference, one["id"], wrong)
            assert all(value == 0 for value in target["distances"].values())
            first = found[0]["distances"]
            assert differing_distances(first | {"emd": first["emd"] + 1e-9}, first) == ["emd"]  # the comparison can fail
        assert "distances" not in ask(link, {"do": "ask", "n": 9, "regions": boxes})["regions"][0]
        link.close()
    print("seven distances equal their definitions")


def check_options(command, scratch):
    random = np.random.default_rng(SEED)
    pixels = random.integers(0, 4096, (100, 90)).astype(np.uint16)
    np.save(scratch / "range.npy", pixels)
    box = [3, 5, 70, 60]
    with Server(command, scratch / "range.npy", "--range", "1000,3000", "--bins", "50") as server:
        picture = server.picture()
        assert picture["range"] == [1000, 3000] and picture["bins"] == 50
        link = connect(server)
        found = ask(link, {"do": "ask", "n": 1, "regions": [[1, *box]]})["regions"][0]
        assert not differences(found, expected(pixels, box, 50, (1000, 3000)) | {"scale": 0}, False), found
        assert found["under"] > 0 and found["over"] > 0 and found["percentiles"][0][1] is None and found["percentiles"][2][1] is None
        link.close()
    bytes_ = random.integers(0, 256, (100, 90)).astype(np.uint8)
    np.save(scratch / "bytes.npy", bytes_)
    with Server(command, scratch / "bytes.npy", "--range", "10,100", "--bins", "7") as server:
        link = connect(server)
        found = ask(link, {"do": "ask", "n": 1, "regions": [[1, *box]]})["regions"][0]
        assert not differences(found, expected(bytes_, box, 7, (10, 100)) | {"scale": 0}, False), found
        link.close()

    def refused(*arguments, code):
        done = subprocess.run([command, "view", *map(str, arguments)], capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == code and not done.stdout and done.stderr.startswith("areal: ") and done.stderr.count("\n") == 1, (arguments, done)
        return done.stderr
    path = scratch / "bytes.npy"
    assert "--memory" in refused(path, "--memory", "160M", code=1)
    refused(path, "--port", "65536", code=2)
    refused(path, "--bins", "1", code=2)
    refused(path, "--bins", "257", code=2)
    refused(path, "--range", "5,5", code=2)
    refused(path, "--range", "nan,5", code=2)
    refused(scratch / "none.npy", code=1)
    with Server(command, path) as server:
        assert "in use" in refused(path, "--port", server.port, code=1)
    print("options are taken or refused with a sentence")


def check_video(command, scratch):
    """Messages about frames, of which wrong ones are refused; a damaged folder; too little memory."""
    from PIL import Image
    random = np.random.default_rng(SEED)
    frames = random.integers(0, 256, (6, 40, 50), dtype=np.uint8)
    folder = scratch / "frames"
    folder.mkdir()
    for i, frame in enumerate(frames):
        Image.fromarray(frame).save(folder / f"{i}.png")
    (folder / "4.png").write_bytes((folder / "4.png").read_bytes()[:300])

    def until(link, holds):
        while not (isinstance(state := (found := json.loads(link.recv())).get("frame"), dict) and holds(state)):
            pass
        return found["frame"]
    with Server(command, folder) as server:
        picture = server.picture()
        assert picture["kind"] == "video" and picture["channels"] == ["gray"] and picture["generation"] == 0 and picture["page"] is False, picture
        link = connect(server)
        first = json.loads(link.recv())["frame"]
        assert first == {"number": 0, "seconds": None, "frames": 6, "plays": False, "seeks": False, "problem": None, "followed": [], "boxes": []}, first
        bad = [{"do": "seek"}, {"do": "seek", "frame": -1}, {"do": "seek", "frame": 1.5}, {"do": "seek", "frame": "1"}, {"do": "seek", "frame": 2 ** 60}, {"do": "step"},
               {"do": "step", "by": None}, {"do": "step", "by": 1e3}, {"do": "step", "by": -2 ** 60}, {"do": "follow"}, {"do": "follow", "id": 0, "algorithm": None},
               {"do": "follow", "id": 99, "algorithm": "fragments"}, {"do": "follow", "id": 1, "algorithm": "/etc/passwd"}, {"do": "follow", "id": 1, "algorithm": ["fragments"]},
               {"do": "follow", "id": 1, "algorithm": "x" * 60000}, {"do": "stop"}]
        for n, message in enumerate(bad, 1):
            found = ask(link, {"n": n, **message})
            assert "error" in found and len(found["error"]) < 300, (message, found)
        box = [3, 4, 20, 15]
        assert ask(link, {"do": "set", "n": 50, "id": None, "name": "", "box": box})["id"] == 1
        assert ask(link, {"do": "seek", "n": 51, "frame": 2}) == {"n": 51}
        until(link, lambda state: state["number"] == 2 and not state["seeks"])
        found = ask(link, {"do": "ask", "n": 52, "regions": [[1, *box]]})
        assert found["frame"] == 2 and not differences(found["regions"][0], expected(frames[2], box, 256, (0, 256)) | {"scale": 0}, False), found
        for generation, wanted in ((0, 2), (1, 0), (3, 2)):  # 0 is the frame that is shown
            tile = server.get(f"tile/{generation}/0/0/0/0")
            assert np.array_equal(np.frombuffer(tile[20:], np.uint8).reshape(40, 50), frames[wanted]), generation
        for generation in (9, 2 ** 63, 2 ** 64 - 1):
            assert status(exchange(server, request(server, f"tile/{generation}/0/0/0/0"))) == 404
        # The damage is the end.
        ask(link, {"do": "play", "n": 53})
        end = until(link, lambda state: state["problem"])
        assert end["frames"] == 4 and not end["plays"] and "4.png" in end["problem"], end
        # A tracker's errors are its sentences; its rows end with the region.
        ask(link, {"do": "set", "n": 60, "id": None, "name": "", "box": [0, 0, 5, 5]})
        ask(link, {"do": "follow", "n": 61, "id": 2, "algorithm": "fragments"})
        failed = until(link, lambda state: state["problem"] and "10" in state["problem"])
        assert failed["followed"] == [], failed
        ask(link, {"do": "follow", "n": 62, "id": 1, "algorithm": "window"})
        until(link, lambda state: state["boxes"])
        assert len(server.get("export/tracks.csv").decode().splitlines()) == 2
        ask(link, {"do": "remove", "n": 63, "id": 1})
        assert server.get("export/tracks.csv") == b"frame,seconds,id,x,y,width,height,distance\n"
        link.close()
    Image.fromarray(np.zeros((2000, 2000, 3), np.uint8)).save(scratch / "large.png")
    (scratch / "large").mkdir()
    (scratch / "large.png").rename(scratch / "large" / "0.png")
    done = subprocess.run([command, "view", scratch / "large", "--memory", "190M"], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1 and "three frames of it need --memory of at least" in done.stderr and done.stderr.count("\n") == 1, done
    with Server(command, scratch / "bytes.npy") as server:
        link = connect(server)
        for n, do in enumerate(("play", "pause", "seek", "step", "follow"), 1):
            assert "may be ask, set, remove, range or layer" in ask(link, {"do": do, "n": n, "frame": 0, "by": 0, "id": 1})["error"]
        assert status(exchange(server, request(server, "export/tracks.csv"))) == 404
        link.close()
    print("frames, trackers and their faults are as they should be")


FILTERS = {**dict.fromkeys(("mean", "sum", "count", "var", "std", "min", "max", "median", "threshold", "bradley", "niblack", "wolf", "nick", "equalize", "otsu", "entropy", "modal"), {"size": "9x5"}),
           "percentile": {"size": "9x5", "q": "25"}, "sauvola": {"size": "8", "k": "0.1", "offset": "-3", "inverted": "true", "edge": "reflect"}, "guided": {"size": "7", "eps": "100"},
           "gaussian": {"sigma": "3x1.5"}, "bilateral": {"size": "5", "sigma-range": "30", "anchor": "0x4"}}


def check_layers(command, scratch):
    """Every filter on a part equals `areal filter` on the picture, searches equal NumPy's; wrong requests are refused."""
    random = np.random.default_rng(SEED)
    pixels = random.integers(0, 256, (150, 200), dtype=np.uint8)
    np.save(scratch / "layers.npy", pixels)
    view = [60, 40, 90, 70]
    x, y, w, h = view

    def values(found):
        tile = server.get(f"layer/{found['layer']}")
        wide, high = struct.unpack("<HH", tile[8:12])
        assert tile[:8] == b"artl\1\2\1\0" and found["box"][2:] == [wide, high], found
        return np.frombuffer(tile[20:], np.float32).reshape(high, wide)
    with Server(command, scratch / "layers.npy") as server:
        link = connect(server)
        known = subprocess.run([command, "filter", "none", scratch / "layers.npy", "--size", "3", "-o", scratch / "o.npy"], capture_output=True, text=True, timeout=60, check=False).stderr
        assert sorted(FILTERS) == sorted(known.split("may be ")[1].strip().replace(" or ", ", ").split(", ")), known
        for n, (name, options) in enumerate(FILTERS.items(), 1):
            found = ask(link, {"do": "layer", "n": n, "kind": "filter", "name": name, "options": options, "view": view})
            assert found.get("level") == 0 and found["box"] == view and found["places"] == [], (name, found)
            flags = [text for option, value in options.items() for text in ([f"--{option}"] if value == "true" else [f"--{option}", value])]
            exact = ["--type", "64f"] if name in ("mean", "gaussian", "bilateral") else ["--type", "32f"] if name == "guided" else []
            subprocess.run([command, "filter", name, scratch / "layers.npy", *flags, *exact, "-o", scratch / "o.npy"], check=True, timeout=60)
            wanted = np.load(scratch / "o.npy")[y:y + h, x:x + w].astype(np.float32)
            got = values(found)
            assert np.array_equal(got, wanted), (name, np.abs(got - wanted).max())
            assert found["range"] == [float(got.min()), float(got.max())] or np.allclose(found["range"], [got.min(), got.max()], rtol=1e-6), (name, found)
        assert not np.array_equal(got, np.roll(wanted, 1, 1)), "values of the next pixels were not told apart"
        # Edges `valid` and `wrap`, and windows that reach the edge, against NumPy.
        windows = np.lib.stride_tricks.sliding_window_view(pixels, (6, 9))
        found = ask(link, {"do": "layer", "n": 50, "kind": "filter", "name": "max", "options": {"size": "9x6", "edge": "valid"}, "view": [0, 0, 200, 150]})
        assert found["box"] == [4, 3, 192, 145] and np.array_equal(values(found), windows.max((2, 3))), found
        found = ask(link, {"do": "layer", "n": 51, "kind": "filter", "name": "sum", "options": {"size": "5", "edge": "wrap"}, "view": [0, 0, 20, 10]})
        wrapped = np.lib.stride_tricks.sliding_window_view(np.pad(pixels.astype(np.int64), 2, mode="wrap"), (5, 5)).sum((2, 3))
        assert np.array_equal(values(found), wrapped[:10, :20]), found
        # Searches.
        a, b, c, d = region = [70, 60, 21, 16]
        part = pixels[b:b + d, a:a + c].astype(np.float64)
        found = ask(link, {"do": "layer", "n": 60, "kind": "match", "name": "sqdiff", "view": view, "region": region})
        assert found["places"][0] == [*region, 0] and len(found["places"]) <= 10, found
        scores = values(found)
        left, top = found["box"][0] - c // 2, found["box"][1] - d // 2
        for column, row in ((0, 0), (11, 7), (scores.shape[1] - 1, scores.shape[0] - 1)):
            other = pixels[top + row:top + row + d, left + column:left + column + c].astype(np.float64)
            assert scores[row, column] == np.float32(((other - part) ** 2).sum()), (column, row)
        found = ask(link, {"do": "layer", "n": 61, "kind": "histogram", "name": "l1", "view": view, "region": region})
        assert found["places"][0] == [*region, 0] and [place[4] for place in found["places"]] == sorted(place[4] for place in found["places"]), found
        shares = [np.bincount(one.reshape(-1) // 16, minlength=16) / one.size for one in (pixels[b:b + d, a:a + c], pixels[top + 9:top + 9 + d, left + 5:left + 5 + c])]
        assert abs(values(found)[9, 5] - np.abs(shares[0] - shares[1]).sum()) < 1e-6
        old = found["layer"]
        # What is wrong has a sentence; files have no option.
        good = {"do": "layer", "kind": "filter", "name": "mean", "options": {"size": "3"}, "view": view}
        bad = [{"kind": "none"}, {"kind": None}, {"view": [0, 0, 0, 5]}, {"view": [0, 0, 201, 5]}, {"view": [1, 2, 3]}, {"view": [2 ** 60] * 4}, {"channel": 1}, {"name": 5}, {"name": "x" * 65},
               {"name": "none"}, {"options": {}}, {"options": []}, {"options": {"size": 3}}, {"options": {"size": "0"}}, {"options": {"size": "3", "mask": "/etc/passwd"}},
               {"options": {"size": "3", "guide": "/etc/passwd"}}, {"options": {"sizes": "/etc/passwd"}}, {"options": {"size": "3", "edge": "none"}}, {"options": {"size": "3", "k": "1"}},
               {"options": {"size": "201", "edge": "valid"}}, {"options": {"size": "9" * 20}}, {"options": {"size": "1" * 65}}, {"options": {str(i): "1" for i in range(25)}},
               {"name": "gaussian", "options": {"sigma": "1e9"}}, {"name": "gaussian", "options": {"sigma": "nan"}}, {"kind": "match", "name": "sqdiff"},
               {"kind": "match", "name": "none", "region": region}, {"kind": "match", "name": "sqdiff", "region": [0, 0, 0, 0]}, {"kind": "match", "name": "sqdiff", "region": [190, 0, 20, 5]},
               {"kind": "histogram", "name": "none", "region": region}, {"kind": "histogram", "name": "l1", "region": [-1, 0, 5, 5]}]
        for n, change in enumerate(bad, 100):
            found = ask(link, {**good, **change, "n": n})
            assert "error" in found and len(found["error"]) < 300 and "--" not in found["error"] and "passwd" not in found["error"], (change, found)
        for path in ("layer/", "layer/0", "layer/x", "layer/-1", f"layer/{old + 1}", "layer/18446744073709551615", "layer/../page.html"):
            assert status(exchange(server, request(server, path))) == 404, path
        # The newest request wins; a page that closes takes its layer along.
        for n in range(200, 230):
            link.send(json.dumps({**good, "options": {"size": str(n - 190)}, "n": n}))
        while (found := json.loads(link.recv())).get("n") != 229:
            assert "error" in found or "layer" in found, found
        assert len(server.get(f"layer/{found['layer']}")) == 20 + 4 * w * h
        link.close()
        gone = request(server, f"layer/{found['layer']}")
        for _ in range(100):
            if status(exchange(server, gone)) == 404:
                break
            time.sleep(0.1)
        else:
            raise AssertionError("the layer of a closed page is still there")
    # A picture that exceeds the memory has its layers at a smaller size; regions are answered meanwhile.
    with Server(command, "synthetic:6000x5000:3", "--memory", "300M") as server:
        link = connect(server)
        found = ask(link, {"do": "layer", "n": 1, "kind": "filter", "name": "std", "options": {"size": "5"}, "view": [0, 0, 6000, 5000]})
        assert found["level"] >= 3 and found["box"] == [0, 0, -(-6000 // 2 ** found["level"]), -(-5000 // 2 ** found["level"])], found
        assert ask(link, {"do": "layer", "n": 2, "kind": "filter", "name": "std", "options": {"size": "5"}, "view": [100, 200, 300, 200]})["level"] == 0
        link.close()
    print(f"{len(FILTERS)} filters and two searches equal those of the whole picture; {len(bad)} wrong ones are refused")


def check_tiles_and_exports(command, scratch, tree):
    random = np.random.default_rng(SEED)
    pixels = random.normal(0, 5, (300, 270)).astype(np.float32)
    pixels[10, 20] = np.nan
    np.save(scratch / "tile.npy", pixels)
    with Server(command, scratch / "tile.npy") as server:
        whole = np.empty_like(pixels)
        for row in range(2):
            for column in range(2):
                tile = server.get(f"tile/1/0/0/{column}/{row}")
                magic, version, kind, channels, _, width, height, scale, offset = struct.unpack("<4sBBBBHHff", tile[:20])
                assert (magic, version, kind, channels) == (b"artl", 1, 1, 1)
                entries = np.frombuffer(tile, np.uint16, offset=20).reshape(height, width)
                values = np.where(entries == 65535, np.nan, offset + np.float64(scale) * entries)
                whole[row * 256:row * 256 + height, column * 256:column * 256 + width] = values
        assert np.isnan(whole[10, 20]) and np.nanmax(np.abs(whole - pixels)) < (np.nanmax(pixels) - np.nanmin(pixels)) / 65534 * 0.51 + 1e-5

    picture = tree / "data" / "rubberwhale1.png"
    with Server(command, picture) as server:
        link = connect(server)
        boxes = {"fin": [10, 20, 30, 40], "": [100, 50, 200, 100]}
        for n, (name, box) in enumerate(boxes.items(), 1):
            assert ask(link, {"do": "set", "n": n, "name": name, "box": box})["id"] == n
        (scratch / "regions.csv").write_bytes(server.get("export/regions.csv"))
        hist = subprocess.run([command, "hist", picture, "--regions", scratch / "regions.csv", "--bins", "256"], capture_output=True, text=True, timeout=60, check=True).stdout
        rows = list(csv.DictReader(io.StringIO(server.get("export/histograms.csv").decode())))
        luma = [{key: value for key, value in row.items() if key != "channel"} for row in rows if row["channel"] == "luma"]
        assert luma == list(csv.DictReader(io.StringIO(hist))), "histograms.csv differs from `areal hist`"
        query = subprocess.run([command, "query", picture, "--regions", scratch / "regions.csv", "--stat", "sum,mean,std"], capture_output=True, text=True, timeout=60, check=True).stdout
        statistics = [row for row in csv.DictReader(io.StringIO(server.get("export/statistics.csv").decode())) if row["channel"] == "luma"]
        for row, wanted in zip(statistics, csv.DictReader(io.StringIO(query)), strict=True):
            assert row["sum"] == wanted["sum"] and abs(float(row["mean"]) - float(wanted["mean"])) < 1e-12 * 255 and abs(float(row["std"]) - float(wanted["std"])) < 1e-12 * 255, (row, wanted)
        png = server.get("export/picture.png")
        assert png.startswith(b"\x89PNG") and len(png) > 10000
        link.close()
    print("tiles hold the pixels; exports equal `areal hist` and `areal query`")


def check_help(command, tree):
    """The example of --help shows the page of its file."""
    help_text = subprocess.run([command, "view", "--help"], capture_output=True, text=True, timeout=60, check=True).stdout
    example = help_text.split("Example:\n", 1)[1].splitlines()[0].split()
    assert example[:2] == ["areal", "view"], example
    with Server(command, *example[2:], folder=tree) as server:
        assert server.picture()["name"] == pathlib.Path(example[2]).name
    with Server(command, tree / "data" / "rubberwhale1.png", "--json", json_line=True) as server:
        assert server.picture()["name"] == "rubberwhale1.png"


def check_regions(command, tree, scratch):
    """--region and --regions: the page begins with them."""
    file, picture = scratch / "begin.csv", tree / "data" / "rubberwhale1.png"
    file.write_text("x,y,width,height,name\n215,85,105,100,whale\n500,300,100,200,\n")
    with Server(command, picture, "--region", "1,2,3,4", "--regions", file, "--outside", "clip") as server:
        link = websocket.create_connection(f"ws://{server.host}/{server.token}/ws", origin=f"http://{server.host}", timeout=10)
        assert json.loads(link.recv())["regions"] == [{"id": 1, "name": "", "box": [1, 2, 3, 4]}, {"id": 2, "name": "whale", "box": [215, 85, 105, 100]}, {"id": 3, "name": "", "box": [500, 300, 84, 88]}]
        link.close()
    for wrong in (("--regions", file), ("--region", "0,0,0,5"), ("--region", "1,2,3")):
        ended = subprocess.run([command, "view", picture, *wrong], capture_output=True, text=True, timeout=60, check=False)
        assert ended.returncode == 2 and ended.stderr.count("\n") == 1 and not ended.stdout, (wrong, ended)


def check_open(command, tree, scratch):
    """--open: the browser gets a file that this user alone may read, not the address; the file goes when the page is there."""
    program = scratch / "bin" / "xdg-open"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nprintf "%s" "$1" >"{scratch}/opened"\n')
    program.chmod(0o755)
    environment = dict(os.environ, PATH=f"{program.parent}:{os.environ['PATH']}", TMPDIR=str(scratch))
    for with_page in (True, False):
        (scratch / "opened").unlink(missing_ok=True)
        with Server(command, tree / "data" / "rubberwhale1.png", "--open", environment=environment) as server:
            for _ in range(100):
                if (scratch / "opened").exists() and (scratch / "opened").read_text():
                    break
                time.sleep(0.05)
            file = pathlib.Path((scratch / "opened").read_text())
            assert server.token not in str(file) and file.stat().st_mode & 0o777 == 0o600 and server.url in file.read_text()
            command_line = pathlib.Path(f"/proc/{server.process.pid}/cmdline").read_bytes()
            assert server.token.encode() not in command_line
            if with_page:
                server.get()
                assert not file.exists()
        assert not file.exists()


class Opens:
    """Tells whether a file was opened, by inotify."""

    def __init__(self, path):
        system = ctypes.CDLL(None, use_errno=True)
        self.link = system.inotify_init1(os.O_NONBLOCK)
        assert self.link >= 0 and system.inotify_add_watch(self.link, os.fsencode(path), 0x20) >= 0, os.strerror(ctypes.get_errno())  # IN_OPEN

    def any(self):
        """Since the last call."""
        try:
            return len(os.read(self.link, 65536)) > 0
        except BlockingIOError:
            return False


def check_paths(command, scratch):
    """A path in any field of a message is refused or is a plain name, and a symbolic link beside the input is not served: no file is opened."""
    folder, secret = scratch / "beside", scratch / "secret.npy"
    (folder / "app").mkdir(parents=True)
    np.save(folder / "picture.npy", np.arange(3000, dtype=np.uint8).reshape(50, 60))
    np.save(secret, np.frombuffer(b"nobody reads this" * 10, np.uint8).reshape(10, 17))
    links = ["link.npy", "app/main.js", "app/link.npy", "picture.json", "page.html"]
    for name in links:
        (folder / name).symlink_to(secret)
    opens = Opens(secret)
    (folder / links[0]).read_bytes()
    assert opens.any() and not opens.any(), "inotify does not tell that a file is opened"
    with Server(command, "picture.npy", folder=folder) as server:
        link = connect(server)
        good = [{"do": "ask", "channel": 0, "regions": [[1, 0, 0, 5, 5]], "final": True, "reference": 1}, {"do": "set", "id": None, "name": "", "box": [0, 0, 5, 5]}, {"do": "remove", "id": 99},
                {"do": "layer", "kind": "filter", "channel": 0, "name": "mean", "options": {"size": "3"}, "view": [0, 0, 60, 50]},
                {"do": "layer", "kind": "histogram", "channel": 0, "name": "l1", "region": [0, 0, 5, 5], "view": [0, 0, 60, 50]}]
        n = 0
        for path in ("/etc/passwd", str(secret), "link.npy", "../secret.npy", f"file://{secret}"):
            for message in good:
                fields = [*({**message, key: path} for key in message), *({**message, "options": {"size": "3", key: path}} for key in ("size", "edge", "mask", "guide") if "options" in message),
                          {**message, path: path}, {**message, "measure": path, "path": path, "file": path}]
                for changed in fields:
                    n += 1
                    found = ask(link, {**changed, "n": n})
                    known = set(changed) <= set(message) and changed != message
                    is_name = changed["do"] == "set" and changed["name"] == path
                    assert known <= ("error" in found or is_name), (changed, found)
                    assert "nobody" not in str(found), found
        link.close()
        link = websocket.create_connection(f"ws://{server.host}/{server.token}/ws", origin=f"http://{server.host}", timeout=10)
        names = {region["name"] for region in json.loads(link.recv())["regions"]}
        assert "/etc/passwd" in names and "../secret.npy" in names, names
        link.close()
        for name in [*links, "picture.npy", "app/picture.npy", "export/link.npy", "layer/link.npy", "tile/link.npy"]:
            answer = exchange(server, request(server, name))
            assert status(answer) == (200 if name in ("app/main.js", "picture.json") else 404) and b"nobody" not in answer, (name, answer[:200])
    assert not opens.any(), "a file was opened"
    print(f"{n} messages with paths open no file")


def check_size(command, tree):
    """All that a page loads before its picture is below 500,000 bytes."""
    with Server(command, tree / "data" / "rubberwhale1.png") as server:
        sizes, wanted = {}, [""]
        while wanted:
            name = wanted.pop()
            text = server.get(name).decode()
            sizes[name] = len(text.encode())
            found = re.findall(r'(?:src|<link [^>]*href)="(app/[^"]+)"', text) if name == "" else [f"app/{file}" for file in re.findall(r"(?:from|import)\s*'\./([^']+)'", text)]
            wanted += [file for file in dict.fromkeys(found) if file not in sizes and file not in wanted]
    assert {"app/leaflet.js", "app/main.js", "app/style.css", "app/stage.js"} <= set(sizes) and sum(sizes.values()) < 500_000, sizes
    print(f"the page is {len(sizes)} files of {sum(sizes.values())} bytes")


def check_load(command, tree, scratch):
    """The benchmark of drags, for a moment."""
    file = scratch / "load.json"
    inputs = [str(tree / "data" / "rubberwhale1.png"), "synthetic:300x200:1"]
    subprocess.run([sys.executable, tree / "bench" / "view_load.py", command, *inputs, "--seconds", "0.5", "--no-browser", "--json", file], timeout=100, check=True, stderr=subprocess.DEVNULL)
    records = json.loads(file.read_text())
    assert [record["part"] for record in records] == ["first drag", "second drag"] * 2, records
    for record in records:
        assert record["exact"] and record["answers"] > 0 and record["p99_us"] >= record["p50_us"] > 0 and record["peak_bytes"] >= record["private_bytes"] > 0, record


def check_end(command, tree):
    for number in (signal.SIGINT, signal.SIGTERM):
        server = Server(command, tree / "data" / "rubberwhale1.png")
        link = connect(server)
        link.send(json.dumps({"do": "ask", "n": 1, "regions": [[1, 0, 0, 5, 5]]}))
        seconds, code = server.end(number)
        assert code == -number, (number, seconds, code)
        print(f"{number.name} ends it in {seconds:.2f} s")
    # During a survey, too, whose rest is not done: that of a terapixel takes many minutes.
    server = Server(command, "synthetic:1000000x1000000:7")
    link = connect(server)
    rows = json.loads(link.recv())["survey"]
    seconds, code = server.end(signal.SIGINT)
    assert code == -signal.SIGINT, (seconds, code)
    try:
        while found := link.recv():
            rows = json.loads(found)["survey"]
    except (OSError, websocket.WebSocketException):
        pass
    assert rows["rows"] < rows["of"] == 1000000 and not rows["problem"], rows
    print(f"during a survey in {seconds:.2f} s, after {rows['rows']} rows of {rows['of']}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tree", type=pathlib.Path, required=True)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    command = command_of(arguments.build)
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder)
        silent = SilentClients(command, arguments.tree, arguments.build)
        check_numbers(command, scratch)
        check_distances(command, arguments.tree)
        check_options(command, scratch)
        check_video(command, scratch)
        check_layers(command, scratch)
        check_tiles_and_exports(command, scratch, arguments.tree)
        check_help(command, arguments.tree.resolve())
        check_regions(command, arguments.tree, scratch)
        check_open(command, arguments.tree, scratch)
        check_paths(command, scratch)
        check_size(command, arguments.tree)
        with Server(command, arguments.tree / "data" / "rubberwhale1.png") as server:
            check_requests(server)
            check_handshakes(server)
            time.sleep(0.3)
            check_messages(server)
            time.sleep(0.3)
            check_limits(server)
        print("attacks are refused")
        check_load(command, arguments.tree.resolve(), scratch)
        check_end(command, arguments.tree)
        silent.check()


if __name__ == "__main__":
    main()
