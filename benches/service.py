#!/usr/bin/env python3
"""Many subscribers of one session of `cuecard serve rest`: how late events come, and how much memory that takes. Beside it,
how long a bare loop takes to send one event to all of them: nobody who writes to each for each event is faster.

    cargo build --release && cargo build --release -p cuecard-service --example subscribers
    benches/service.py [SUBSCRIBERS]
"""

import datetime
import json
import os
import pathlib
import resource
import socket
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROFILE = os.environ.get("PROFILE", "release")
PROGRAM = ROOT / "target" / PROFILE / "cuecard"
SUBSCRIBERS = ROOT / "target" / PROFILE / "examples" / "subscribers"
PER_SECOND, SECONDS, BEGINS_MS, BARE_EVENTS = 50, 20, 10_000, 200


def timeline():
    """50 events a second for 20 s, once the subscribers had 10 s to come."""
    entries = [[BEGINS_MS, "event 0"]]
    entries += [[1000 // PER_SECOND, f"event {number}"] for number in range(1, PER_SECOND * SECONDS)]
    events = [{"userInputs": [[0, "Count"]]}, {"llmResponse": [{"assistant": entries}]}, {"complete": True}]
    return json.dumps({"name": "count", "timeline": events})


class Bare(threading.Thread):
    """The least that a server can do: one `send` for each event and subscriber, in a loop."""

    def __init__(self, n_subscribers):
        super().__init__()
        self.n_subscribers, self.listener = n_subscribers, socket.create_server(("127.0.0.1", 0), backlog=4096)
        self.address = "127.0.0.1:%d" % self.listener.getsockname()[1]
        self.ms_per_event = None

    def run(self):
        streams = []
        while len(streams) < self.n_subscribers:
            stream, _ = self.listener.accept()
            if stream.recv(1 << 16).startswith(b"POST"):
                stream.sendall(b'HTTP/1.1 201 Created\r\n\r\n{"links":{"events":"/events"}}')
                stream.close()
                continue
            stream.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            stream.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
            streams.append(stream)
        sends = [stream.send for stream in streams]
        began = time.perf_counter()
        for number in range(1, BARE_EVENTS + 1):
            now = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")
            data = json.dumps({"type": "message", "ts": now, "role": "assistant", "content": f"event {number}"}, separators=(",", ":"))
            event = f"id: {number}\nevent: session\ndata: {data}\n\n".encode()
            for send in sends:
                send(event)
        self.ms_per_event = (time.perf_counter() - began) * 1000 / BARE_EVENTS
        for stream in streams:
            stream.close()


def subscribe(address, n_subscribers):
    command = f"ulimit -n 20000; exec {SUBSCRIBERS} {address} {n_subscribers}"
    return json.loads(subprocess.run(["sh", "-c", command], check=True, capture_output=True, text=True).stdout)


def main():
    resource.setrlimit(resource.RLIMIT_NOFILE, (20_000, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    n_subscribers = int(sys.argv[1]) if len(sys.argv) > 1 else 5000
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "count.yaml")
        file.write_text(timeline())
        server = subprocess.Popen(
            [PROGRAM, "serve", "rest", file, "--json"], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        url = json.loads(server.stdout.readline())["url"]
        address = url.removeprefix("http://")
        measured = subscribe(address, n_subscribers)
        status = pathlib.Path(f"/proc/{server.pid}/status").read_text()
        measured["peak_memory_mb"] = int(status.split("VmHWM:")[1].split()[0]) / 1024
        server.terminate()
        server.wait()
    bare = Bare(n_subscribers)
    bare.start()
    subscribe(bare.address, n_subscribers)
    bare.join()
    measured["bare_loop_ms_per_event"] = round(bare.ms_per_event, 1)
    print(json.dumps(measured))


main()
