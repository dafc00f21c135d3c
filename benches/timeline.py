"""Timelines end to end: how many short ones run in a second, how fast screens are read, and whether real agents do the same
each time."""

import json
import shutil
import subprocess
import time

from bench import ROOT, left_out

# Rows of this part when nothing is left out.
ROWS = 4
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


def runs(bench, n_scenarios, jobs):
    files = bench.folder / f"timelines-{jobs}"
    files.mkdir()
    for number in range(n_scenarios):
        (files / f"{number}.yaml").write_text(timeline(number))
    command = [bench.binary, "run", files, "--speed", "0", "--jobs", str(jobs), "--json"]
    began = time.perf_counter()
    done = subprocess.run(command, cwd=bench.folder, capture_output=True, text=True)
    took = time.perf_counter() - began
    found = json.loads(done.stdout)["runs"]
    passed = sum(run["status"] == "passed" for run in found)
    assert (done.returncode, passed) == (0, n_scenarios), (done.returncode, passed, done.stderr[-2000:])
    return f"run, {n_scenarios} short timelines, {jobs} at once", f"{n_scenarios / took:.1f} runs/s", ">= 50 runs/s" if jobs > 1 else ""


def rows(bench):
    for jobs in (1, 4, 16):
        yield runs(bench, bench.pick(100, 20, 2), jobs)
    megabytes = bench.pick(64, 16, 1)
    said = subprocess.run([bench.examples / "screens", str(megabytes)], check=True, capture_output=True, text=True).stdout
    screens = json.loads(said)
    yield (
        f"{megabytes} MB of a program's output becomes a screen; the screen a text",
        f"{screens['parsed_mb_per_second']} MB/s; {screens['text_us'] / 1000:.2f} ms",
        ">= 40 MB/s; < 1 ms",
    )


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


def agents(bench):
    """One timeline ten times with each real agent that is installed."""
    for name, program in AGENTS.items():
        what = f"one timeline ten times with {name}"
        if not shutil.which(program):
            yield left_out(what, "it is not installed")
            continue
        file = bench.folder / f"{name}.yaml"
        file.write_text(for_agent(name, (ROOT / "examples/run/agent.yaml").read_text()))
        command = [bench.binary, "audit", file, "--agent", name, "--runs", "10", "--json"]
        began = time.perf_counter()
        done = subprocess.run(command, cwd=bench.folder, capture_output=True, text=True)
        took = time.perf_counter() - began
        audit = json.loads(done.stdout)["scenarios"][0]
        same = "all the same" if done.returncode == 0 else json.dumps(audit)
        yield what, f"{same}, {took:.1f} s", "all the same"
