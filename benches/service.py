"""Many subscribers of one session of `cuecard serve rest`: how late events come, and how much memory that takes. Beside it,
how long a bare loop takes to send one event to all of them: nobody who writes to each for each event is faster."""

import datetime
import json
import resource
import socket
import subprocess
import threading
import time
from pathlib import Path

from bench import left_out

# Rows of this part when nothing is left out.
ROWS = 3
PER_SECOND, BARE_EVENTS = 50, 200


def timeline(begins_ms, seconds):
    """50 events a second for so long, once the subscribers had time to come."""
    entries = [[begins_ms, "event 0"]]
    entries += [[1000 // PER_SECOND, f"event {number}"] for number in range(1, PER_SECOND * seconds)]
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


def subscribe(bench, address, n_subscribers):
    program = bench.examples / "subscribers"
    said = subprocess.run([program, address, str(n_subscribers)], check=True, capture_output=True, text=True).stdout
    measured = json.loads(said)
    assert measured["errors"] == 0 and measured["identical"], measured
    return measured


def rows(bench):
    n_subscribers, begins_ms, seconds = bench.pick((5_000, 10_000, 20), (1_000, 5_000, 5), (20, 500, 1))
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 20_000 if most == resource.RLIM_INFINITY else min(most, 20_000)
    if wanted < n_subscribers + 200:
        yield left_out(f"serve rest, {n_subscribers:,} subscribers", f"only {wanted} files may be open (`ulimit -Hn`)")
        return
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, most))
    file = bench.folder / "count.yaml"
    file.write_text(timeline(begins_ms, seconds))
    server = subprocess.Popen(
        [bench.binary, "serve", "rest", file, "--json"],
        cwd=bench.folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
    )
    try:
        address = json.loads(server.stdout.readline())["url"].removeprefix("http://")
        measured = subscribe(bench, address, n_subscribers)
        status = Path(f"/proc/{server.pid}/status").read_text()
    finally:
        server.terminate()
        server.wait()
    late = f"p50 {measured['p50_ms']:.1f} ms, p99 {measured['p99_ms']:.1f} ms, most {measured['max_ms']:.1f} ms"
    yield f"serve rest, {n_subscribers:,} subscribers, {PER_SECOND} events/s: lateness", late, "p99 < 50 ms"
    yield "memory of that", f"{int(status.split('VmHWM:')[1].split()[0]) / 1024:.0f} MB", "< 400 MB"
    bare = Bare(n_subscribers)
    bare.start()
    subscribe(bench, bare.address, n_subscribers)
    bare.join()
    yield "a bare loop that sends an event to all of them", f"{bare.ms_per_event:.1f} ms per event", ""
