"""Calls one after the other, by Cuecard and by a bare loop around the SDK, over every transport that the SDK has."""

import json
import os
import re
import shutil
import socketserver
import statistics
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager

from bench import left_out, write

# Rows of this part when nothing is left out.
ROWS = 14
HIGHEST_RATIO = 1.15
HIGHEST_JOURNAL_RATIO = 1.05
LOWEST_RATE = 10_000
# How many calls of a served cassette are on their way at a time.
WINDOW = 16


def measured(args, folder):
    """Runs a program to its end; gives its standard output and the CPU seconds of it and its children."""
    with open(folder / "err", "wb") as err:
        process = subprocess.Popen(args, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=err)
        out = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    process.stdout.close()
    if process.returncode != 0:
        sys.exit(f"{args} ended with {process.returncode}:\n{(folder / 'err').read_text()[-2000:]}")
    return out, usage.ru_utime + usage.ru_stime


def bare(loop, calls, where, folder):
    """Seconds and CPU seconds of the bare loop."""
    out, cpu = measured([loop, str(calls), *where], folder)
    return json.loads(out)["seconds"], cpu


def echo_steps(count, tool):
    for n in range(count):
        yield {"step": n + 1, "tool": tool, "params": {"message": f"line {n}"}}


def played(binary, calls, folder):
    """Seconds and CPU seconds of a run with one step more before those that count, and one after them."""
    shutil.rmtree(folder / ".cuecard", ignore_errors=True)
    _, cpu = measured([binary, "play", "calls.json"], folder)
    (trace,) = folder.glob(".cuecard/runs/*/trace.jsonl")
    began = {}
    with open(trace) as lines:
        for line in lines:
            event = json.loads(line)
            if event.get("type") == "step_finished":
                began[event["data"]["step"]] = event["data"]["attempts"][0]["started_ms"]
    # From the beginning of a step to the beginning of another: whole steps, with all that is written about them.
    return (began[calls + 2] - began[2]) / 1000, cpu


@contextmanager
def serving(args, folder, ready, env=None):
    """A server that is up; `ready` gives its first line, or nothing yet."""
    with open(folder / "server", "wb") as out:
        process = subprocess.Popen(
            args, cwd=folder, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT, env=env
        )
    try:
        give_up = time.monotonic() + 30
        while not (said := ready((folder / "server").read_text())):
            if process.poll() is not None or time.monotonic() > give_up:
                sys.exit(f"{args} did not start:\n{(folder / 'server').read_text()[-2000:]}")
            time.sleep(0.02)
        yield said
    finally:
        process.terminate()
        process.wait()


def servers(binary, loop, everything, folder):
    """Names of servers with how the bare loop is told of each and how a config is."""
    with ExitStack() as up:

        def socket(name, *args):
            path = folder / name
            up.enter_context(serving([loop, args[0], path, *args[1:]], folder, lambda _: path.exists()))
            return str(path)

        http = up.enter_context(
            serving([binary, "mcp", "demo", "--http", "--port", "0"], folder, lambda said: said.strip())
        )
        lines = socket("lines.sock", "serve-unix")
        over_socket = socket("http.sock", "serve-http-unix", http.split("/")[2])
        demo = {"command": str(binary), "args": ["mcp", "demo"]}
        yield "stdio", ["stdio", binary, "mcp", "demo"], demo
        yield "Streamable HTTP", ["http", http], {"url": http}
        yield "a Unix socket", ["unix", lines], {"url": f"unix://{lines}"}
        yield "Streamable HTTP over a Unix socket", ["http-unix", over_socket], {"url": f"http+unix://{over_socket}"}
        node = shutil.which("node")
        if node and everything.exists():
            entry = {"command": node, "args": [str(everything), "stdio"]}
            yield "stdio, server-everything", ["stdio", node, everything, "stdio"], entry
            with socketserver.TCPServer(("127.0.0.1", 0), None) as free:
                port = free.server_address[1]
            args = [node, everything, "streamableHttp"]
            ready = lambda said: f"{port}" in said
            up.enter_context(serving(args, folder, ready, {**os.environ, "PORT": str(port)}))
            url = f"http://127.0.0.1:{port}/mcp"
            yield "Streamable HTTP, server-everything", ["http", url], {"url": url}


def served(binary, calls, folder):
    """Calls a second that a served cassette answers over stdio."""
    request = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
    with open(folder / "echo.cassette.jsonl", "w") as out:
        out.write('{"cassette": 1}\n')
        for n in range(calls):
            out.write(json.dumps({"tool": "echo", "arguments": {"message": f"line {n}"}, "result": f"line {n}"}) + "\n")
    args = [binary, "serve", "mcp", "echo.cassette.jsonl"]
    with subprocess.Popen(args, cwd=folder, stdin=-1, stdout=-1, stderr=subprocess.DEVNULL) as server:
        def send(message):
            server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

        send({"id": "first", "method": "initialize", "params": request})
        server.stdin.flush()
        server.stdout.readline()
        send({"method": "notifications/initialized"})
        began = time.perf_counter()
        for start in range(0, calls, WINDOW):
            batch = range(start, min(start + WINDOW, calls))
            for n in batch:
                params = {"name": "echo", "arguments": {"message": f"line {n}"}}
                send({"id": n, "method": "tools/call", "params": params})
            server.stdin.flush()
            for _ in batch:
                answer = json.loads(server.stdout.readline())
                if answer["result"].get("isError"):
                    sys.exit(f"the cassette has no answer: {answer}")
        took = time.perf_counter() - began
        server.stdin.close()
    return calls / took


@contextmanager
def recorded(bench, entry):
    """How a config says of a server that a proxy records it."""
    record = ["record", "mcp", "--force", "-o", "rec.json", "--server", "peer"]
    if "args" in entry:
        yield {"command": str(bench.binary), "args": [*record, "--", entry["command"], *entry["args"]]}
        return
    ready = re.compile(r"^ready +(\S+)", re.MULTILINE)
    args = [bench.binary, *record, "--http", "--url", entry["url"]]
    with serving(args, bench.folder, ready.search) as said:
        yield {"url": said[1]}


def recording(bench, name, entry, calls):
    """What a proxy that records adds to a call."""
    without, within = [], []
    for _ in range(bench.pick(15, 3, 1)):
        with recorded(bench, entry) as proxy:
            for runs, config in (without, entry), (within, proxy):
                (bench.folder / ".mcp.json").write_text(json.dumps({"mcpServers": {"peer": config}}))
                runs.append(played(bench.binary, calls, bench.folder)[0] * 1e6 / calls)
    direct, proxied = statistics.median(without), statistics.median(within)
    what = f"{calls:,} echo steps over {name}, recorded"
    return what, f"{proxied:.0f} µs each, direct {direct:.0f}: {proxied / direct:.2f} ×", f"<= {HIGHEST_RATIO} ×"


def rows(bench):
    binary, folder, calls = bench.binary, bench.folder, bench.pick(1_000, 1_000, 20)
    loop = bench.examples / "rmcp_loop"
    everything = bench.peers / "npm/node_modules/@modelcontextprotocol/server-everything/dist/index.js"
    write(folder / "calls.json", echo_steps(calls + 2, "mcp__peer__echo"))
    names = []
    for name, where, entry in servers(binary, loop, everything, folder):
        names.append(name)
        (folder / ".mcp.json").write_text(json.dumps({"mcpServers": {"peer": entry}}))
        ours, theirs = [], []
        for _ in range(bench.pick(15, 3, 1)):
            # In turns, so that whatever else the machine does happens to both.
            theirs.append(bare(loop, calls, where, folder))
            ours.append(played(binary, calls, folder))
        each = 1e6 / calls
        our, their = (statistics.median(run[0] for run in runs) * each for runs in (ours, theirs))
        # A few calls of a small bare loop may take less time than the clock of the processor counts.
        cpu = statistics.median(run[1] for run in ours) / max(statistics.median(run[1] for run in theirs), 1e-3)
        best = min(run[0] for run in ours) / min(run[0] for run in theirs)
        yield (
            f"{calls:,} echo steps over {name}",
            f"{our:.0f} µs each, bare {their:.0f}: {our / their:.2f} × (best {best:.2f}; CPU {cpu:.2f})",
            f"<= {HIGHEST_RATIO} ×",
        )
        if not entry.get("url", "http:").startswith(("unix", "http+unix")):
            yield recording(bench, name, entry, calls)
    (folder / ".mcp.json").unlink()
    if "stdio, server-everything" not in names:
        for transport in "stdio", "Streamable HTTP":
            for what in "", ", recorded":
                yield left_out(f"echo steps over {transport}, server-everything{what}", "`./test` installs it")
    n_served = bench.pick(100_000, 20_000, 100)
    rate = max(served(binary, n_served, folder) for _ in range(bench.pick(3, 3, 1)))
    what = f"{n_served:,} calls of a served cassette over stdio, {WINDOW} at a time"
    yield what, f"{rate:,.0f} calls/s", f">= {LOWEST_RATE:,} calls/s"
    out, _ = measured([bench.examples / "journal", str(calls), str(bench.pick(15, 3, 1)), binary, "mcp", "demo"], folder)
    runs = json.loads(out)
    with_journal, without = (statistics.median(runs[name]) * 1e6 / calls for name in ("with", "without"))
    best = min(runs["with"]) / min(runs["without"])
    yield (
        f"{calls:,} echo steps over stdio with a journal, with the start of the server",
        f"{with_journal:.0f} µs each, without {without:.0f}: {with_journal / without:.2f} × (best {best:.2f})",
        f"<= {HIGHEST_JOURNAL_RATIO} ×",
    )
    for count in bench.pick((10_000, 100_000), (10_000, 100_000), (100, 200)):
        write(folder / "echo.json", echo_steps(count, "mcp__demo__echo"))
        _, _, reading = bench.repeated(1, ["check", "echo.json"])
        _, _, resident = bench.repeated(1, ["play", "echo.json"])
        what = f"memory of {count:,} echo steps: all, and above reading the file"
        yield what, f"{resident:.0f} MB, {resident - reading:+.1f} MB", "flat"
