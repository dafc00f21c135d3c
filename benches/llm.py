"""The stand-in for a model's API under load: requests beside another mock, thousands of streams, many sessions."""

import json
import os
import re
import resource
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

from bench import left_out

# Rows of this part when nothing is left out.
ROWS = 6
LOWEST_RATIO = 1.0
CONNECTIONS = 64
GAP_MS = 100
OPEN_FILES = 16_000
CHAT = "/v1/chat/completions"
HELLO = {"model": "gpt-4", "messages": [{"role": "user", "content": "Say hello"}]}
HELLO_SCENARIO = """name: hello
timeline:
  - userInputs: [[0, "Say hello"]]
  - llmResponse: [{assistant: [[0, "Hello! How can I help you today?"]]}]
"""
POST = """
wrk.method = "POST"
wrk.body = [[%s]]
wrk.headers["Content-Type"] = "application/json"
"""
# A session of its own for each request; threads count apart.
SESSION = """
local n_threads = 0
function setup(thread)
  thread:set("prefix", n_threads)
  n_threads = n_threads + 1
end
local n = 0
function request()
  n = n + 1
  wrk.headers["x-cuecard-session"] = prefix .. "-" .. n
  return wrk.format()
end
"""


def counting_scenario(events):
    pieces = ", ".join(f'[{GAP_MS}, "tick {number:06}, "]' for number in range(events))
    return f'name: count\ntimeline:\n  - userInputs: [[0, "Count"]]\n  - llmResponse: [{{assistant: [{pieces}]}}]\n'


def memory(pid):
    """Resident now and the most so far, in MB."""
    status = Path(f"/proc/{pid}/status").read_text()
    return [int(re.search(rf"{name}:\s+(\d+) kB", status)[1]) / 1024 for name in ("VmRSS", "VmHWM")]


def cpu(pid):
    """Processor seconds so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def serving(args, folder, port):
    """A server that listens."""
    with open(folder / "server", "wb") as out:
        process = subprocess.Popen(args, cwd=folder, stdin=subprocess.DEVNULL, stdout=out, stderr=out)
    try:
        give_up = time.monotonic() + 30
        while True:
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                break
            except OSError:
                if process.poll() is not None or time.monotonic() > give_up:
                    sys.exit(f"{args} did not start:\n{(folder / 'server').read_text()[-2000:]}")
                time.sleep(0.02)
        yield process.pid
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait()


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


@contextmanager
def cuecard(binary, scenario, folder, *more):
    (folder / "scenario.yaml").write_text(scenario)
    port = free_port()
    args = [binary, "serve", "llm", "scenario.yaml", "--port", str(port), *more]
    with serving(args, folder, port) as pid:
        yield port, pid


def wrk(port, script, seconds, folder, connections=CONNECTIONS):
    """Requests in a second. All of them must be answered with success."""
    (folder / "script.lua").write_text(script)
    args = ["wrk", "-t2", f"-c{connections}", f"-d{seconds}s", "-s", "script.lua", f"http://127.0.0.1:{port}{CHAT}"]
    said = subprocess.run(args, cwd=folder, check=True, capture_output=True, text=True).stdout
    if "Non-2xx" in said or "Socket errors" in said:
        sys.exit(f"not every request got its answer:\n{said}")
    return float(re.search(r"Requests/sec:\s+([\d.]+)", said)[1])


def requests(bench, peer):
    """The same request over and over, and each time in a session of its own."""
    binary, folder = bench.binary, bench.folder
    seconds, times = bench.pick((5, 7), (2, 3), (1, 1))
    same = POST % json.dumps(HELLO)
    ours, apart, theirs = [], [], []
    port = free_port()
    peer_args = [peer, "--port", str(port), "--host", "127.0.0.1"]
    for _ in range(times):
        # In turns, so that whatever else the machine does happens to all.
        if peer:
            with serving(peer_args, folder, port) as pid:
                theirs.append((wrk(port, same, seconds, folder), memory(pid)[1]))
        with cuecard(binary, HELLO_SCENARIO, folder) as (our_port, pid):
            ours.append((wrk(our_port, same, seconds, folder), memory(pid)[1]))
        with cuecard(binary, HELLO_SCENARIO, folder) as (our_port, pid):
            apart.append((wrk(our_port, same + SESSION, seconds, folder), memory(pid)[1]))
    median = lambda runs: statistics.median(run[0] for run in runs)
    most = lambda runs: max(run[1] for run in runs)
    beside = "vidaimock left out: `cargo install vidaimock`"
    if peer:
        beside = f"vidaimock {median(theirs):,.0f}: {median(ours) / median(theirs):.2f} ×"
    yield (
        f"serve llm, the same Chat request, {CONNECTIONS} connections",
        f"{median(ours):,.0f} requests/s, {beside}",
        f">= {LOWEST_RATIO} ×",
    )
    yield "memory of that", f"{most(ours):.0f} MB" + (f", vidaimock {most(theirs):.0f} MB" if peer else ""), "< 60 MB"
    yield "each request in a session of its own", f"{median(apart):,.0f} requests/s, {most(apart):.0f} MB", ""


def sessions(bench):
    """Memory while one session after the other comes, far behind the bounds of all that is kept."""
    request = f"POST {CHAT} HTTP/1.1\r\nHost: localhost\r\nx-cuecard-session: %d\r\nContent-Length: %d\r\n\r\n%s"
    body = json.dumps(HELLO)
    sizes, count = [], bench.pick(50_000, 50_000, 100)
    with cuecard(bench.binary, HELLO_SCENARIO, bench.folder) as (port, pid):
        with socket.create_connection(("127.0.0.1", port)) as connection:
            answers = connection.makefile("rb")
            for number in range(2 * count):
                if number == count:
                    sizes.append(memory(pid)[0])
                connection.sendall((request % (number, len(body), body)).encode())
                status, length = answers.readline(), 0
                while (line := answers.readline().strip()) != b"":
                    name, _, value = line.partition(b":")
                    if name.lower() == b"content-length":
                        length = int(value)
                answers.read(length)
                if b" 200 " not in status:
                    sys.exit(f"session {number} got {status}")
        sizes.append(memory(pid)[0])
    yield (
        f"memory of {count:,} sessions in a row, and of as many more",
        f"{sizes[0]:.1f} MB, {sizes[1] - sizes[0]:+.1f} MB",
        "flat",
    )


def streams(bench, n_streams):
    """Many streams at once, and how late their events come."""
    seconds, settle_ms = bench.pick((60, 5000), (10, 5000), (1, 500))
    events = seconds * 1000 // GAP_MS
    with cuecard(bench.binary, counting_scenario(events), bench.folder) as (port, pid):
        began = cpu(pid)
        client = bench.examples / "llm_streams"
        args = [client, f"127.0.0.1:{port}", str(n_streams), str(events), str(GAP_MS), str(settle_ms)]
        said = json.loads(subprocess.run(args, check=True, capture_output=True, text=True).stdout)
        used = (cpu(pid) - began) / said["seconds"]
        most = memory(pid)[1]
    if said["errors"]:
        print(f"streams failed: {said['first_errors']}", file=sys.stderr)
    what = f"{n_streams:,} streams for {seconds} s, {1000 // GAP_MS} events/s each"
    yield what, f"{said['errors']} errors, {most:.0f} MB, {used:.2f} cores", "0 errors, < 300 MB"
    late = f"p50 {said['p50_ms']:.1f} ms, p99 {said['p99_ms']:.1f} ms, most {said['max_ms']:.1f} ms"
    yield "lateness of their events", late, "p99 < 10 ms"


def rows(bench):
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = OPEN_FILES if most == resource.RLIM_INFINITY else min(most, OPEN_FILES)
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, most))
    if shutil.which("wrk"):
        yield from requests(bench, os.environ.get("VIDAIMOCK") or shutil.which("vidaimock"))
    else:
        yield left_out("serve llm, requests/s", "`apt-get install wrk`")
    yield from sessions(bench)
    n_streams = bench.pick(5_000, 1_000, 20)
    if wanted > n_streams + 200:
        yield from streams(bench, n_streams)
    else:
        yield left_out(f"{n_streams:,} streams", f"only {wanted} files may be open (`ulimit -Hn`)")
