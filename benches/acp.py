"""Many sessions of one `cuecard acp` at once: how many updates a second it sends, and how much memory that takes."""

import json
import subprocess
import threading
import time
from pathlib import Path

# Rows of this part when nothing is left out.
ROWS = 1
UPDATES = 20


def timeline():
    entries = [[1, f"update {number}"] for number in range(UPDATES)]
    events = [{"userInputs": [[0, "Count"]]}, {"llmResponse": [{"assistant": entries}]}]
    return json.dumps({"name": "count", "timeline": events})


def request(number, method, params):
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}) + "\n"


def ask(agent, n_sessions):
    """Opens all sessions, then sends a prompt to each."""
    write = agent.stdin.write
    write(request(0, "initialize", {"protocolVersion": 1}))
    new = {"cwd": "/", "mcpServers": []}
    for number in range(1, n_sessions + 1):
        write(request(number, "session/new", new))
        prompt = {"sessionId": f"count-{number}", "prompt": [{"type": "text", "text": "Count"}]}
        write(request(n_sessions + number, "session/prompt", prompt))
    agent.stdin.flush()


def rows(bench):
    n_sessions = bench.pick(10_000, 1_000, 20)
    file = bench.folder / "count.yaml"
    file.write_text(timeline())
    command = [bench.binary, "acp", file, "--speed", "0", "--sessions-max", str(n_sessions)]
    pipe = subprocess.PIPE
    agent = subprocess.Popen(command, cwd=bench.folder, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True)
    began = time.perf_counter()
    asking = threading.Thread(target=ask, args=(agent, n_sessions))
    asking.start()
    n_updates = n_answers = 0
    for line in agent.stdout:
        if '"method":"session/update"' in line:
            n_updates += 1
        else:
            n_answers += 1
            if n_answers == 2 * n_sessions + 1:
                break
    took = time.perf_counter() - began
    status = Path(f"/proc/{agent.pid}/status").read_text()
    asking.join()
    agent.stdin.close()
    code = agent.wait()
    assert (n_updates, code) == (n_sessions * UPDATES, 0), (n_updates, code)
    most = int(status.split("VmHWM:")[1].split()[0]) / 1024
    what = f"acp, {n_sessions:,} sessions of {UPDATES} updates at speed 0"
    yield what, f"{n_updates / took:,.0f} updates/s, {most:.0f} MB", ">= 100,000 updates/s"
