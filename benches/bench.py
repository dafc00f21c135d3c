"""What the parts of the benchmarks have in common: where the programs are, how much is measured, and how."""

import json
import os
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SIZES = ("full", "quick", "smoke")


@dataclass
class Bench:
    """A run of the benchmarks; `folder` is a scratch folder of the part that runs."""

    binary: Path
    examples: Path
    peers: Path
    folder: Path
    size: str

    def pick(self, full, quick, smoke):
        """The value for the size of this run."""
        return (full, quick, smoke)[SIZES.index(self.size)]

    def run(self, args):
        """Runs the binary; gives seconds and the largest resident size in MB."""
        out_file, err_file = self.folder / ".stdout", self.folder / ".stderr"
        with open(out_file, "wb") as out, open(err_file, "wb") as err:
            started = time.perf_counter()
            process = subprocess.Popen([self.binary, *args], cwd=self.folder, stdout=out, stderr=err, stdin=subprocess.DEVNULL)
            _, status, usage = os.wait4(process.pid, 0)
            took = time.perf_counter() - started
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            sys.exit(f"{args} ended with {process.returncode}:\n{err_file.read_text()[-2000:]}")
        return took, usage.ru_maxrss / 1024

    def repeated(self, times, args):
        """The best and the median seconds of so many runs, and their largest resident size in MB."""
        measured = [self.run(args) for _ in range(times)]
        seconds = [took for took, _ in measured]
        return min(seconds), statistics.median(seconds), max(size for _, size in measured)


def write(path, steps):
    """Writes a scenario step by step: what this process holds would count as the largest size of its children."""
    with open(path, "w") as out:
        out.write('{"version": "2.1", "metadata": {"name": "benchmark"}, "variables": {"WHO": "Ada"}, "steps": [\n')
        for index, step in enumerate(steps):
            out.write((",\n" if index else "") + json.dumps(step, indent=1))
        out.write("\n]}\n")


def left_out(what, why):
    """A row of what can't be measured on this machine."""
    return what, f"left out: {why}", ""
