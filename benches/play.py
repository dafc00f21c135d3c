"""`cuecard check` and `play`: whole processes, steps per second, and memory."""

import json
import shutil
import statistics

from bench import write

# Rows of this part when nothing is left out.
ROWS = 9


def log_steps(count):
    for n in range(1, count + 1):
        yield {"step": n, "tool": "sandy__log", "params": {"message": f"line {n} for {{{{WHO}}}}"}}


def mixed_steps(count):
    for n in range(1, count + 1):
        yield {
            "step": n,
            "id": f"note_{n}",
            "tool": "mcp__demo__add_note",
            "params": {"title": f"Note {n} of {{{{WHO}}}}", "text": f"After {{{{note_{n - 1}.id}}}}" if n > 1 else "First"},
            "output": {"id": "$.id", "title": "$.title"},
            "condition": f"{{{{note_{n - 1}.id}}}} != \"\"" if n > 1 else "true",
            "on_error": "retry",
            "retry": {"count": 2, "delay": 100},
            "expect": {"json_path": "$.id", "equals": n},
        }


def duration(folder):
    """The own seconds of the only run in the folder: without reading the scenario."""
    (description,) = folder.glob(".cuecard/runs/*/run.json")
    return json.loads(description.read_text())["duration"]


def rows(bench):
    folder = bench.folder
    write(folder / "20.json", mixed_steps(20))
    best, median, _ = bench.repeated(bench.pick(200, 20, 1), ["check", "20.json"])
    yield "check, 20 steps, whole process", f"{median * 1000:.1f} ms (best {best * 1000:.1f})", "< 10 ms"
    best, median, _ = bench.repeated(bench.pick(20, 5, 1), ["play", "20.json"])
    yield "play, 20 steps on the demo server, whole process", f"{median * 1000:.1f} ms (best {best * 1000:.1f})", ""
    for steps in bench.pick((10_000, 100_000), (10_000, 100_000), (100, 1_000)):
        path = folder / "log.json"
        write(path, log_steps(steps))
        resident = 0
        for result in ([], ["-o", "result.json"]):
            target = ">= 200,000 steps/s" if steps == 100_000 and not result else ""
            rates, wholes = [], []
            for _ in range(bench.pick(7, 2, 1)):
                shutil.rmtree(folder / ".cuecard", ignore_errors=True)
                whole, size = bench.run(["play", path.name, *result])
                rates.append(steps / duration(folder))
                wholes.append(whole)
                resident = max(resident, size)
            what = f"play, {steps:,} sandy__log steps" + (", with -o" if result else "")
            rate = f"{statistics.median(rates):,.0f} steps/s (best {max(rates):,.0f})"
            yield what, f"{rate}; whole process {statistics.median(wholes):.2f} s", target
        _, _, reading = bench.repeated(1, ["check", path.name])
        yield "memory of that: all, and above reading the file", f"{resident:.0f} MB, {resident - reading:+.1f} MB", "flat"
    yield "the binary", f"{bench.binary.stat().st_size / 1e6:.1f} MB", ""
