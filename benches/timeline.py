#!/usr/bin/env python3
"""Timelines end to end: how many short ones run in a second, and how fast screens are read.

    cargo build --release
    cargo build --release -p cuecard-terminal --example screens
    benches/timeline.py [SCENARIOS]

With `--agents [NAME…]` it runs one timeline ten times with each real agent that is installed, and says whether all runs are the same.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
TARGET = ROOT / "target" / os.environ.get("PROFILE", "release")
PROGRAM = TARGET / "cuecard"
AGENTS = {"codex": "codex", "opencode": "opencode", "gemini-cli": "gemini", "qwen-code": "qwen", "pi": "pi", "cline": "cline", "mini-swe-agent": "mini", "openhands": "openhands"}


def timeline(number):
    events = [
        {"userInputs": [[0, f"Write file {number}"]]},
        {"llmResponse": [{"assistant": [[20, "I write it."]]}]},
        {"writeFile": {"path": f"{number}.txt", "content": "text\n"}},
        {"llmResponse": [{"assistant": [[20, "It is written."]]}]},
        {"assert": {"fs": {"exists": [f"{number}.txt"]}, "text": {"contains": ["It is written."]}}},
    ]
    return json.dumps({"name": f"short-{number}", "timeline": events, "expect": {"exitCode": 0}})


def runs(n_scenarios, jobs):
    with tempfile.TemporaryDirectory() as folder:
        files = pathlib.Path(folder, "timelines")
        files.mkdir()
        for number in range(n_scenarios):
            (files / f"{number}.yaml").write_text(timeline(number))
        command = [PROGRAM, "run", files, "--speed", "0", "--jobs", str(jobs), "--json"]
        began = time.perf_counter()
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        took = time.perf_counter() - began
    found = json.loads(done.stdout)["runs"]
    passed = sum(run["status"] == "passed" for run in found)
    assert (done.returncode, passed) == (0, n_scenarios), (done.returncode, passed, done.stderr[-2000:])
    return {"scenarios": n_scenarios, "jobs": jobs, "seconds": round(took, 2), "runs_per_second": round(n_scenarios / took, 1)}


def for_agent(name, timeline):
    """The timeline with what an agent needs besides."""
    if name == "openhands":
        # Its view does not scroll.
        tall = "terminalRef: {width: 100, height: 100}\ncompat: {allowInlineTerminal: true}\n"
        return timeline.replace("timeline:", tall + "timeline:", 1)
    if name == "mini-swe-agent":
        # It goes on until a command says that it is done.
        done = '\n  - runCmd: {cmd: "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"}'
        for last in ['"The script says goodbye."]]', '"It is committed."]]']:
            timeline = timeline.replace(last + "\n  - assert", last + done + "\n  - assert", 1)
    return timeline


def agents(names):
    for name in names or AGENTS:
        program = AGENTS[name]
        if not shutil.which(program):
            print(json.dumps({"agent": name, "installed": False}))
            continue
        with tempfile.TemporaryDirectory() as folder:
            timeline = pathlib.Path(folder, "timeline.yaml")
            timeline.write_text(for_agent(name, (ROOT / "examples/run/agent.yaml").read_text()))
            command = [PROGRAM, "audit", timeline, "--agent", name, "--runs", "10", "--json"]
            began = time.perf_counter()
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
            took = time.perf_counter() - began
        audit = json.loads(done.stdout)["scenarios"][0]
        print(json.dumps({"agent": name, "seconds": round(took, 1), **audit}), flush=True)


def main():
    if sys.argv[1:2] == ["--agents"]:
        return agents(sys.argv[2:])
    n_scenarios = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    for jobs in [1, 4, 16]:
        print(json.dumps(runs(n_scenarios, jobs)), flush=True)
    print(subprocess.run([TARGET / "examples/screens", "64"], check=True, capture_output=True, text=True).stdout.strip())


main()
