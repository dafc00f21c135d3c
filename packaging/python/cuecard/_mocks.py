"""The mocks: child processes of ``cuecard``, with their addresses and their verdicts."""

from __future__ import annotations

import json
import os
import queue
import shutil
import signal
import subprocess
import sysconfig
import tempfile
import sys
import threading
import warnings
import weakref
from pathlib import Path
from types import TracebackType
from typing import IO, AbstractSet, Any, Dict, List, Optional, Type, TypeVar, Union

StrPath = Union[str, "os.PathLike[str]"]

#: How long a mock may take to start, and to say its verdict, in seconds.
PATIENCE = 60.0

M = TypeVar("M", bound="Mock")


class MockError(AssertionError):
    """The verdict of a mock is a failure, or it could not start; the text has its findings, as the command prints them."""


def find_binary() -> str:
    """The path of the ``cuecard`` command that came with this package, or else the first one in ``PATH``.

    Raises ``FileNotFoundError`` if there is none.
    """
    for path in _installed():
        if path.is_file() and os.access(path, os.X_OK):
            return str(path)
    # `pip install --target` puts commands into `bin` beside the packages.
    folders = [
        sysconfig.get_path("scripts"),
        str(Path(__file__).resolve().parent.parent / "bin"),
        sysconfig.get_path("scripts", sysconfig.get_preferred_scheme("user")),
    ]
    for folder in folders:
        candidate = Path(folder) / "cuecard"
        if candidate.is_file() and os.access(candidate, os.X_OK):
            return str(candidate)
    in_path = shutil.which("cuecard")
    if in_path is None:
        raise FileNotFoundError(
            f"the command `cuecard` is not in {folders[0]} and not in PATH: install the package again"
        )
    return in_path


def _installed() -> List[Path]:
    """The command among the files of this very package, wherever its installer put them."""
    import importlib.metadata

    try:
        files = importlib.metadata.files("cuecard") or []
    except importlib.metadata.PackageNotFoundError:
        return []
    return [Path(str(file.locate())).resolve() for file in files if file.name == "cuecard"]


class Mock:
    """A mock that was started. As a context manager it stops at the end of the block."""

    def stop(self) -> None:
        """Stops the mock. Raises :class:`MockError` with its findings if its verdict is a failure. Once is enough."""
        raise NotImplementedError

    def failures_so_far(self) -> List[str]:
        """What has failed until now, for people; the mock goes on. Turns that were not played are no failure yet.

        A :class:`Service` says it at its end only, so its list is empty.
        """
        return []

    def __enter__(self: M) -> M:
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        try:
            self.stop()
        except MockError as findings:
            # The error of the block is the cause; the findings say more about it.
            if error is None:
                raise
            note = getattr(error, "add_note", None)
            if note is not None:
                note(str(findings))


class _Server(Mock):
    """``cuecard serve …``: what it prints first, and its end."""

    def __init__(self, words: List[str], file: StrPath, options: List[str], cwd: Optional[StrPath]) -> None:
        command = [find_binary(), *words, os.fspath(file), "--json", "--stop-on-stdin-eof", *options]
        # A file takes all that is written, also while nobody reads.
        self._stderr = tempfile.TemporaryFile()
        self._process: Optional["subprocess.Popen[bytes]"] = subprocess.Popen(
            command,
            # If this process is killed, the system closes the pipe, and the mock stops.
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            cwd=cwd,
            # Ctrl-C is for the test runner, which then stops the mock.
            start_new_session=True,
        )
        self._name = f"cuecard {' '.join(words)} {os.fspath(file)}"
        self._ready: Dict[str, Any] = self._wait_until_ready()
        _RUNNING.add(self)

    def _wait_until_ready(self) -> Dict[str, Any]:
        process = self._process
        assert process is not None and process.stdout is not None
        line = process.stdout.readline()
        ready: Any = None
        try:
            ready = json.loads(line)
        except ValueError:
            pass
        if not isinstance(ready, dict) or ready.get("event") != "ready":
            self._end(signal.SIGKILL)
            raise MockError(f"`{self._name}` did not start\n\n{self._said()}")
        self._answers = _Answers(process.stdout)
        return ready

    def _said(self) -> str:
        self._stderr.seek(0)
        lines = self._stderr.read().decode("utf-8", "replace").splitlines()
        # With `--json`, an error is also written for machines.
        return "\n".join(line for line in lines if not line.startswith('{"severity":')).rstrip()

    def _end(self, by: signal.Signals) -> int:
        process = self._process
        assert process is not None
        self._process = None
        assert process.stdin is not None
        with process.stdin:
            if process.poll() is None:
                process.send_signal(by)
            try:
                return process.wait(timeout=PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()
                return process.wait()

    @property
    def url(self) -> str:
        """The address, such as ``http://127.0.0.1:41873``."""
        return str(self._ready["url"])

    def stop(self) -> None:
        if self._process is None:
            return
        status = self._end(signal.SIGTERM)
        said = self._said()
        self._stderr.close()
        if status != 0:
            raise MockError(f"`{self._name}` failed (exit {status})\n\n{said}")

    def __del__(self) -> None:
        if getattr(self, "_process", None) is not None:
            message = f"`{self._name}` was not stopped: use it as a context manager"
            warnings.warn(message, ResourceWarning, stacklevel=2, source=self)
            if sys.is_finalizing():
                self._end(signal.SIGKILL)
                return
            try:
                self.stop()
            except MockError as error:
                _FORGOTTEN.append(str(error))


#: The servers that run.
_RUNNING: "weakref.WeakSet[_Server]" = weakref.WeakSet()
#: The findings of servers that nobody stopped before they were gone.
_FORGOTTEN: List[str] = []


def running() -> AbstractSet[Mock]:
    """The servers that run now."""
    return set(_RUNNING)


def judge_forgotten(before: AbstractSet[Mock]) -> List[str]:
    """Stops the servers that were started since ``before``; the findings of these, and of those that are gone."""
    for server in running() - before:
        try:
            server.stop()
        except MockError as error:
            _FORGOTTEN.append(str(error))
    findings = list(_FORGOTTEN)
    _FORGOTTEN.clear()
    return findings


class _Answers:
    """Reads the events of a mock in a thread, so that the mock never waits, and keeps its answers to questions."""

    def __init__(self, pipe: IO[bytes]) -> None:
        self._queue: "queue.SimpleQueue[Optional[Dict[str, Any]]]" = queue.SimpleQueue()
        threading.Thread(target=self._read, args=(pipe,), daemon=True).start()

    def _read(self, pipe: IO[bytes]) -> None:
        with pipe:
            for line in pipe:
                # Most lines are other events, and some are long.
                if b"verdict_so_far" in line:
                    event = json.loads(line)
                    if event["event"] == "verdict_so_far":
                        self._queue.put(event)
        self._queue.put(None)

    def next(self) -> Optional[Dict[str, Any]]:
        """The next answer; ``None`` if the mock has ended."""
        try:
            return self._queue.get(timeout=PATIENCE)
        except queue.Empty:
            return None


def _in_words(finding: Dict[str, Any]) -> str:
    """A finding of the JSON of a verdict, nearly as the command prints it."""
    lines = [f"{finding['severity']}[{finding['code']}]: {finding['message']}"]
    place = [str(finding[key]) for key in ("file", "line", "column") if finding[key] is not None]
    lines += [f"  --> {':'.join(place)}"] if place else []
    lines += [f"  {finding['label']}"] if finding["label"] else []
    lines += [f"  note: {note}" for note in finding["notes"]]
    lines += [f"  help: {finding['help']}"] if finding["help"] else []
    return "\n".join(lines)


class Model(_Server):
    """A mock of the APIs of OpenAI, Anthropic and Google."""

    @property
    def env(self) -> Dict[str, str]:
        """The variables that the SDKs read: ``OPENAI_BASE_URL``, ``OPENAI_API_KEY``, ``ANTHROPIC_BASE_URL``, …"""
        return dict(self._ready["environment"])

    @property
    def openai_base_url(self) -> str:
        """For ``openai.OpenAI(base_url=…)``."""
        return self.env["OPENAI_BASE_URL"]

    @property
    def anthropic_base_url(self) -> str:
        """For ``anthropic.Anthropic(base_url=…)``."""
        return self.env["ANTHROPIC_BASE_URL"]

    @property
    def gemini_base_url(self) -> str:
        """For ``google.genai.Client(http_options={"base_url": …})``."""
        return self.env["GOOGLE_GEMINI_BASE_URL"]

    @property
    def api_key(self) -> str:
        """A key that the mock takes. It takes any other one too."""
        return self.env["OPENAI_API_KEY"]

    def failures_so_far(self) -> List[str]:
        if self._process is None:
            return []
        assert self._process.stdin is not None
        try:
            os.write(self._process.stdin.fileno(), b"\n")
        except BrokenPipeError:
            # It has ended by itself; `stop` says why.
            return []
        verdict = self._answers.next()
        findings = [] if verdict is None else verdict["findings"]
        return [_in_words(finding) for finding in findings if finding["severity"] == "error"]


class Service(_Server):
    """A mock of an agent service with an event stream."""

    @property
    def api_url(self) -> str:
        """The root of its REST API."""
        return f"{self.url}/api/v1"


class AcpAgent(Mock):
    """A mock of an agent that speaks the Agent Client Protocol over standard input and output.

    The client under test starts it, as often as it likes, by :attr:`command`.
    """

    def __init__(self, file: StrPath, options: List[str], cwd: Optional[StrPath]) -> None:
        self._runs = Path(tempfile.mkdtemp(prefix="cuecard-acp-"))
        self._file = os.fspath(Path(cwd or ".").resolve() / file)
        self._options = options
        self._stopped = False

    @property
    def command(self) -> List[str]:
        """The words that start the agent: the program first."""
        return [find_binary(), "acp", self._file, "--run-dir", str(self._runs), *self._options]

    def failures_so_far(self) -> List[str]:
        # A run that goes on has no end in its trace.
        runs = [] if self._stopped else map(_Run, self._traces())
        return [run.findings for run in runs if run.status not in ("success", None)]

    def _traces(self) -> List[Path]:
        return sorted(self._runs.glob("*/trace.jsonl"))

    def stop(self) -> None:
        """Judges the runs of the agent, which end when their client closes their input.

        Raises :class:`MockError` if one failed or still runs, or if there was none.
        """
        if self._stopped:
            return
        self._stopped = True
        try:
            runs = [_Run(path) for path in self._traces()]
            if not runs:
                raise MockError(f"`cuecard acp {self._file}` was not started by the client")
            failures = [run.findings for run in runs if run.status != "success"]
            if failures:
                raise MockError(f"`cuecard acp {self._file}` failed\n\n" + "\n\n".join(failures))
        finally:
            shutil.rmtree(self._runs, ignore_errors=True)


class _Run:
    """A run of an agent, by its trace."""

    def __init__(self, trace: Path) -> None:
        lines = [json.loads(line) for line in trace.read_bytes().split(b"\n")[:-1]]
        ends = [line["status"] for line in lines if line.get("kind") == "end"]
        #: How it ended; ``None`` if it still goes on.
        self.status: Optional[str] = ends[-1] if ends else None
        logs = [line["data"] for line in lines if line.get("type") == "log"]
        texts = [str(data.get("message")) for data in logs if data.get("level") in ("error", "warning")]
        if self.status is None:
            texts.append("the agent left no verdict: close its standard input, and wait for its end")
        #: Its warnings and errors, for people.
        self.findings = "\n\n".join(texts)


def start_model(file: StrPath, *options: str, cwd: Optional[StrPath] = None) -> Model:
    """Starts ``cuecard serve llm FILE``; turns that are not played fail it.

    ``file`` is relative to ``cwd``, or to the working directory. ``options`` are those of the command, such as
    ``"--strict"``. Raises :class:`MockError` if it can't start.
    """
    return Model(["serve", "llm"], file, ["--require-complete", *options], cwd)


def start_service(file: StrPath, *options: str, cwd: Optional[StrPath] = None) -> Service:
    """Starts ``cuecard serve rest FILE``, with ``file`` and ``options`` as for :func:`start_model`."""
    return Service(["serve", "rest"], file, list(options), cwd)


def mock_acp(file: StrPath, *options: str, cwd: Optional[StrPath] = None) -> AcpAgent:
    """Prepares ``cuecard acp FILE`` for a client to start; prompts that are not played fail it.

    ``file`` and ``options`` are as for :func:`start_model`.
    """
    return AcpAgent(file, ["--require-complete", *options], cwd)
