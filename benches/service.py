#!/usr/bin/env python3
"""Many subscribers of one session of `cuecard serve rest`: how late events come, and how much memory that takes.

    cargo build --release && cargo build --release -p cuecard-service --example subscribers
    benches/service.py [SUBSCRIBERS]
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROFILE = os.environ.get("PROFILE", "release")
PROGRAM = ROOT / "target" / PROFILE / "cuecard"
SUBSCRIBERS = ROOT / "target" / PROFILE / "examples" / "subscribers"
PER_SECOND, SECONDS, BEGINS_MS = 50, 20, 10_000


def timeline():
    """50 events a second for 20 s, once the subscribers had 10 s to come."""
    entries = [[BEGINS_MS, "event 0"]]
    entries += [[1000 // PER_SECOND, f"event {number}"] for number in range(1, PER_SECOND * SECONDS)]
    events = [{"userInputs": [[0, "Count"]]}, {"llmResponse": [{"assistant": entries}]}, {"complete": True}]
    return json.dumps({"name": "count", "timeline": events})


def main():
    n_subscribers = int(sys.argv[1]) if len(sys.argv) > 1 else 5000
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "count.yaml")
        file.write_text(timeline())
        server = subprocess.Popen(
            [PROGRAM, "serve", "rest", file, "--json"], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        url = json.loads(server.stdout.readline())["url"]
        address = url.removeprefix("http://")
        command = f"ulimit -n 20000; exec {SUBSCRIBERS} {address} {n_subscribers}"
        measured = json.loads(subprocess.run(["sh", "-c", command], check=True, capture_output=True, text=True).stdout)
        status = pathlib.Path(f"/proc/{server.pid}/status").read_text()
        measured["peak_memory_mb"] = int(status.split("VmHWM:")[1].split()[0]) / 1024
        server.terminate()
        server.wait()
    print(json.dumps(measured))


main()
