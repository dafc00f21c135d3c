"""Targets: elements found in large snapshots, and a recorded session in fresh browsers."""

import json
import shutil
import subprocess
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SESSION = ROOT / "crates/cli/tests/suite/targets/session.json"
SERVER = "npm/node_modules/chrome-devtools-mcp/build/src/bin/chrome-devtools-mcp.js"
TIMES = 10


def rows(binary, examples, peers, folder, quick):
    found = []
    for line in subprocess.run([examples / "snapshots"], capture_output=True, text=True, check=True).stdout.splitlines():
        what, lines, median, worst = line.split("\t")
        found.append((f"target in {int(lines):,} lines of {what}", f"{median} ms (worst {worst})", "< 10 ms"))
    if shutil.which("node") and shutil.which("chromium") and (peers / SERVER).exists():
        found.append(session(binary, examples, peers, folder, 2 if quick else TIMES))
    return found


def session(binary, examples, peers, folder, times):
    """Plays the recorded session in fresh browsers, one after the other."""
    arguments = [str(peers / SERVER), "--executablePath", shutil.which("chromium"), "--headless", "--isolated",
                 "--no-usage-statistics", "--chromeArg=--no-sandbox", "--chromeArg=--disable-gpu",
                 "--chromeArg=--disable-dev-shm-usage"]
    config = {"mcpServers": {"chrome-devtools": {"command": "node", "args": arguments}}}
    (folder / "browser.json").write_text(json.dumps(config))
    site = subprocess.Popen([examples / "site"], stdout=subprocess.PIPE, text=True)
    try:
        root = site.stdout.readline().strip().rstrip("/")
        passed, started = 0, time.perf_counter()
        for _ in range(times):
            command = [binary, "play", SESSION, "--config", "browser.json", "--var", f"SITE={root}"]
            passed += subprocess.run(command, cwd=folder, capture_output=True).returncode == 0
        took = (time.perf_counter() - started) / times
    finally:
        site.kill()
        site.wait()
    return (f"recorded session of 13 calls, {times} fresh browsers", f"{passed} of {times} passed, {took:.1f} s each", "all")
