"""Targets: elements found in large snapshots, and a recorded session in fresh browsers."""

import json
import shutil
import subprocess
import time

from bench import ROOT, left_out

# Rows of this part when nothing is left out.
ROWS = 7
SESSION = ROOT / "crates/cli/tests/suite/targets/session.json"
SERVER = "npm/node_modules/chrome-devtools-mcp/build/src/bin/chrome-devtools-mcp.js"


def rows(bench):
    said = subprocess.run([bench.examples / "snapshots", bench.size], capture_output=True, text=True, check=True).stdout
    for line in said.splitlines():
        what, lines, median, worst = line.split("\t")
        yield f"target in {int(lines):,} lines of {what}", f"{median} ms (worst {worst})", "< 10 ms"
    if shutil.which("node") and shutil.which("chromium") and (bench.peers / SERVER).exists():
        yield session(bench, bench.pick(10, 2, 1))
    else:
        yield left_out("recorded session of 13 calls", "`./test` installs the browser and its server")


def session(bench, times):
    """Plays the recorded session in fresh browsers, one after the other."""
    arguments = [str(bench.peers / SERVER), "--executablePath", shutil.which("chromium"), "--headless", "--isolated",
                 "--no-usage-statistics", "--chromeArg=--no-sandbox", "--chromeArg=--disable-gpu",
                 "--chromeArg=--disable-dev-shm-usage"]
    config = {"mcpServers": {"chrome-devtools": {"command": "node", "args": arguments}}}
    (bench.folder / "browser.json").write_text(json.dumps(config))
    site = subprocess.Popen([bench.examples / "site"], stdout=subprocess.PIPE, text=True)
    try:
        root = site.stdout.readline().strip().rstrip("/")
        passed, started = 0, time.perf_counter()
        for _ in range(times):
            command = [bench.binary, "play", SESSION, "--config", "browser.json", "--var", f"SITE={root}"]
            passed += subprocess.run(command, cwd=bench.folder, capture_output=True).returncode == 0
        took = (time.perf_counter() - started) / times
    finally:
        site.kill()
        site.wait()
    return (f"recorded session of 13 calls, {times} fresh browsers", f"{passed} of {times} passed, {took:.1f} s each", "all")
