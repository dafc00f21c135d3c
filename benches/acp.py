#!/usr/bin/env python3
"""Many sessions of one `cuecard acp` at once: how many updates a second it sends, and how much memory that takes.

    cargo build --release
    benches/acp.py [SESSIONS]
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = ROOT / "target" / os.environ.get("PROFILE", "release") / "cuecard"
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


def main():
    n_sessions = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "count.yaml")
        file.write_text(timeline())
        command = [PROGRAM, "acp", file, "--speed", "0", "--sessions-max", str(n_sessions)]
        pipe = subprocess.PIPE
        agent = subprocess.Popen(command, cwd=folder, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True)
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
        status = pathlib.Path(f"/proc/{agent.pid}/status").read_text()
        asking.join()
        agent.stdin.close()
        code = agent.wait()
    assert (n_updates, code) == (n_sessions * UPDATES, 0), (n_updates, code)
    measured = {
        "sessions": n_sessions,
        "updates": n_updates,
        "seconds": round(took, 3),
        "updates_per_second": round(n_updates / took),
        "peak_memory_mb": int(status.split("VmHWM:")[1].split()[0]) / 1024,
    }
    print(json.dumps(measured))


main()
