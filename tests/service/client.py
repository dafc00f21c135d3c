"""Reads the events of a session over and over, and drops each connection after a few of them."""

import json
import sys
import urllib.request

base, cut_after = sys.argv[1] + "/api/v1", int(sys.argv[2])


def ask(path, body=None):
    data = None if body is None else json.dumps(body).encode()
    with urllib.request.urlopen(urllib.request.Request(base + path, data)) as answer:
        return json.load(answer)


task = ask("/tasks", {"prompt": "Fix the failing test"})
session = task["session_ids"][0]
last, told = 0, []
while True:
    request = urllib.request.Request(f"{base}/sessions/{session}/events")
    if last:
        request.add_header("Last-Event-ID", str(last))
    with urllib.request.urlopen(request) as stream:
        if stream.status == 204:
            break
        got = 0
        for line in stream:
            if line.startswith(b"id: "):
                last = int(line[4:])
            elif line.startswith(b"data: "):
                told.append((last, json.loads(line[6:])))
                got += 1
                if got == cut_after:
                    break
for number, event in told:
    print(number, event["type"], event.get("status", ""))
print(json.dumps(ask(f"/sessions/{session}")["changes"]))
