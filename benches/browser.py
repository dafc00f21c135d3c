"""Browser scenarios: all parse, replay and run as what they are exported to; and how fast that is."""

import json
import os
import shutil
import statistics
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import calls
from bench import ROOT, left_out

# Rows of this part when nothing is left out; a smoke run leaves out the larger page.
ROWS, SMOKE_ROWS = 18, 13
SCENARIOS = ROOT / "tests/scenarios/browser"
BY_HAND = ROOT / "benches/browser_by_hand.mjs"
IN_VIEW = ROOT / "benches/browser_in_view.mjs"
# Two browsers at once; what is timed runs alone.
WORKERS = 2
# What twenty steps are timed with; `browser_by_hand.mjs` does the same.
TIMED = "01-sign-in"
HIGHEST_RATIO = 1.2
LONGEST_TEXT = 24_000
# In milliseconds: capturing a page of 1,000 elements and of 10,000, what of that is our own part, and the rules.
CAPTURE_SMALL, CAPTURE_LARGE, OWN_PART, RULES = 40, 300, 30, 5
SECRETS = {"PASSWORD": "correct horse", "MISTAKE": "battery staple", "CARD": "4111 1111 1111 1111"}
# The code of the warning that an export has nothing for a step.
LEFT_OUT = "B-export_left_out"
# The longest that one run may take, in seconds.
LIMIT = 300


class Place:
    """A folder with the scenarios and the real peers in it, and the site that they are about."""

    def __init__(self, binary, site, peers, runner, folder):
        self.binary, self.base, self.folder = binary, site.rstrip("/"), folder
        self.modules, self.runner = peers / "npm/node_modules", runner
        self.node, self.chromium = shutil.which("node"), shutil.which("chromium")
        shutil.copytree(SCENARIOS, folder, dirs_exist_ok=True)
        (folder / "node_modules").symlink_to(self.modules)
        secrets = {f"CUECARD_VAR_{name}": value for name, value in SECRETS.items()}
        self.env = {**os.environ, **secrets, "CUECARD_VAR_BASE": self.base, "CUECARD_TEST_PEERS": str(peers), "CI": "1"}
        self.names = sorted(path.stem for path in folder.glob("*.yaml"))
        self.write_servers()
        self.write_runner()

    def write_servers(self):
        browser = ["--headless", "--isolated"]
        devtools = self.modules / "chrome-devtools-mcp/build/src/bin/chrome-devtools-mcp.js"
        more = ["--no-usage-statistics", "--chromeArg=--no-sandbox", "--chromeArg=--disable-gpu"]
        more.append("--chromeArg=--disable-dev-shm-usage")
        entry = lambda script, *args: {"command": self.node, "args": [str(script), *browser, *args]}
        servers = {
            "chrome-devtools": entry(devtools, "--executablePath", self.chromium, *more),
            "playwright": entry(self.modules / "@playwright/mcp/cli.js", "--no-sandbox", "--executable-path", self.chromium),
        }
        (self.folder / ".mcp.json").write_text(json.dumps({"mcpServers": servers}))

    def write_runner(self):
        """The tests that Playwright's own runner runs stand in a folder of their own, beside its packages."""
        self.specs = self.folder / "specs"
        self.specs.mkdir()
        (self.specs / "files").symlink_to(self.folder / "files")
        if self.runner:
            (self.specs / "node_modules").symlink_to(self.runner)
        launch = {"executablePath": self.chromium, "args": ["--no-sandbox"]}
        config = {"workers": 1, "reporter": "line", "use": {"launchOptions": launch}}
        (self.specs / "playwright.config.ts").write_text(f"export default {json.dumps(config)};\n")

    def run(self, *args, folder=None):
        """Seconds, whether it succeeded, and what it said."""
        started = time.perf_counter()
        try:
            done = subprocess.run(
                [str(arg) for arg in args], cwd=folder or self.folder, env=self.env, stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=LIMIT, text=True,
            )
            succeeded, said = done.returncode == 0, done.stdout
        except subprocess.TimeoutExpired:
            succeeded, said = False, f"not over after {LIMIT} s"
        return time.perf_counter() - started, succeeded, said

    def cuecard(self, *args):
        return self.run(self.binary, *args)

    def parse(self, name):
        return self.cuecard("parse", f"{name}.yaml", "--translator", "rules", "-o", f"{name}.json")

    def replay(self, name):
        return self.cuecard("play", f"{name}.json")

    def convert(self, name, form):
        """Exports the steps; false if the export leaves steps out, since it can't say them."""
        to = ["--to", "playwright"] if form == "spec" else ["--to", "tool-call", "--server", form]
        _, succeeded, said = self.cuecard("convert", f"{name}.json", *to, "-o", self.exported(name, form), "--force")
        if not succeeded:
            sys.exit(f"{name}.json is not exported:\n{said[-2000:]}")
        return LEFT_OUT not in said

    def exported(self, name, form):
        return self.specs / f"{name}.spec.ts" if form == "spec" else self.folder / f"{name}.{form}.json"

    def run_export(self, name, form):
        if form != "spec":
            return self.cuecard("play", self.exported(name, form).name)
        args = [self.node, "node_modules/@playwright/test/cli.js", "test", f"{name}.spec.ts"]
        return self.run(*args, "--output", f"results/{name}", folder=self.specs)


def all_of(what, names, times, do):
    """Runs each so often; gives the row, and the names that did not always succeed."""
    jobs = [name for _ in range(times) for name in names]
    with ThreadPoolExecutor(WORKERS) as pool:
        done = list(zip(jobs, pool.map(do, jobs)))
    failed = {}
    for name, (_, succeeded, said) in done:
        if not succeeded:
            failed.setdefault(name, []).append(said)
    for name, said in failed.items():
        print(f"\n{what}: {name} failed {len(said)} of {times} times\n{said[0][-2000:]}", file=sys.stderr)
    green = len(jobs) - sum(map(len, failed.values()))
    median = statistics.median(took for _, (took, _, _) in done) if done else 0
    return (what, f"{green} of {len(jobs)}, {median:.1f} s each", f"{len(jobs)} of {len(jobs)}"), failed


def scenarios(place, times):
    """Each is parsed once, replayed so often, and each export runs so often."""
    row, failed = all_of("browser scenarios, parsed by rules", place.names, 1, place.parse)
    yield row
    parsed = [name for name in place.names if name not in failed]
    yield all_of("browser scenarios, replayed", parsed, times, place.replay)[0]
    for form in ("chrome-devtools", "playwright", "spec"):
        title = "by @playwright/test" if form == "spec" else f"through the server {form}"
        if form == "spec" and not place.runner:
            yield left_out(f"exports, run {title}", "it is not installed")
            continue
        whole = [name for name in parsed if place.convert(name, form)]
        what = f"exports, run {title}"
        left = len(parsed) - len(whole)
        row, _ = all_of(what, whole, times, lambda name: place.run_export(name, form))
        yield row[0], row[1] + (f"; {left} can't be said" if left else ""), row[2]


def timed(place, times):
    """Twenty steps beside the same by hand, in turns: the whole process, and from the first action to the last."""
    ours, theirs = [], []
    for _ in range(times):
        # In turns, so that whatever else the machine does happens to both.
        took, succeeded, said = place.run(place.node, BY_HAND, place.base, place.chromium)
        if not succeeded:
            sys.exit(f"{BY_HAND.name} failed:\n{said[-2000:]}")
        theirs.append((took, json.loads(said)["seconds"]))
        runs = place.folder / "timed"
        shutil.rmtree(runs, ignore_errors=True)
        took, succeeded, said = place.cuecard("play", f"{TIMED}.json", "--run-dir", "timed")
        if not succeeded:
            sys.exit(f"{TIMED} does not replay:\n{said[-2000:]}")
        ours.append((took, actions(runs)))
    # What must not be there must stay away for 300 ms, which a script by hand does not look at.
    steps = "20 steps replayed, first to last, 300 ms of it for an absence"
    for column, what in enumerate(("20 steps replayed, whole process", steps)):
        our, their = (statistics.median(run[column] for run in runs) for runs in (ours, theirs))
        best = min(run[column] for run in ours) / min(run[column] for run in theirs)
        measured = f"{our:.2f} s, by hand {their:.2f} s: {our / their:.2f} × (best {best:.2f})"
        yield what, measured, "" if column else f"<= {HIGHEST_RATIO} ×"


def actions(runs):
    """Seconds from the beginning of the first step to the end of the last."""
    (trace,) = runs.glob("*/trace.jsonl")
    steps = []
    with open(trace) as lines:
        for line in lines:
            event = json.loads(line)
            if event.get("type") == "step_finished":
                steps.append(event["data"]["attempts"])
    first, last = steps[0][0], steps[-1][-1]
    return (last["started_ms"] + last["duration_ms"] - first["started_ms"]) / 1000


def text(place):
    """The text for a model of a page with a thousand elements, as a parse keeps it."""
    url = f"{place.base}/states/big.html?n=1000"
    scenario = {"url": url, "actions": ["verify the title is 'Big'"]}
    (place.folder / "big-page.json").write_text(json.dumps(scenario))
    _, succeeded, said = place.cuecard("parse", "big-page.json", "--translator", "rules", "-o", "big-page.steps.json")
    if not succeeded:
        sys.exit(f"the large page can't be parsed:\n{said[-2000:]}")
    steps = json.loads((place.folder / "big-page.steps.json").read_text())
    page = steps["testSteps"][0]["context"]["domStructureSnapshot"]
    _, succeeded, said = place.run(place.node, IN_VIEW, url, place.chromium)
    if not succeeded:
        sys.exit(f"{IN_VIEW.name} failed:\n{said[-2000:]}")
    names = json.loads(said)
    there = sum(f'{role} {json.dumps(name)}' in page for role, name in names)
    measured = f"{len(page):,} characters; {there} of {len(names)} elements in view"
    yield "text for a model, page of 1,000 elements", measured, f"< {LONGEST_TEXT:,}, all in view"


def states(place, program, size):
    """Large pages captured, read, written for a model, and searched by the rules: a program of its own does it."""
    targets = {
        (1000, "captured again"): CAPTURE_SMALL, (10_000, "captured again"): CAPTURE_LARGE,
        (10_000, "decoded, indexed and written for a model"): OWN_PART, (1000, "rules"): RULES, (10_000, "rules"): RULES,
    }
    _, succeeded, said = place.run(program, size)
    if not succeeded:
        sys.exit(f"{program.name} failed:\n{said[-2000:]}")
    for line in said.splitlines():
        elements, what, median, worst = line.split("\t")
        target = next((most for (size, part), most in targets.items() if size == int(elements) and what.startswith(part)), None)
        yield f"page of {int(elements):,} elements, {what}", f"{median} ms (worst {worst})", f"<= {target} ms" if target else ""


def rows(bench):
    missing = [name for name in ("node", "chromium") if not shutil.which(name)]
    missing += [] if (bench.peers / "npm/node_modules/playwright-core").exists() else ["playwright-core"]
    if missing:
        yield left_out("browser scenarios", f"no {', no '.join(missing)} (`./test` installs it)")
        return
    # The page made with React needs the packages.
    env = {**os.environ, "CUECARD_TEST_PEERS": str(bench.peers)}
    with calls.serving([bench.examples / "site"], bench.folder, str.strip, env) as site:
        work = bench.folder / "browser"
        work.mkdir()
        place = Place(bench.binary, site, bench.peers, runner_of(bench.peers), work)
        place.names = bench.pick(place.names, place.names, [TIMED])
        yield from scenarios(place, bench.pick(10, 1, 1))
        yield from timed(place, bench.pick(10, 3, 1))
        yield from text(place)
        yield from states(place, bench.examples / "states", bench.pick("full", "full", "smoke"))


def runner_of(peers):
    """The node_modules of the peers, if Playwright's own runner is among them."""
    modules = peers / "npm/node_modules"
    return modules if (modules / "@playwright/test").exists() else None
