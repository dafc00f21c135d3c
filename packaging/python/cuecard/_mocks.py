"""The mocks: child processes of ``cuecard``, with their addresses and their verdicts."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sysconfig
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Any, Dict, List, Optional, Type, TypeVar, Union

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
        command = [find_binary(), *words, os.fspath(file), "--json", *options]
        # A file takes all that is written, also while nobody reads.
        self._stderr = tempfile.TemporaryFile()
        self._process: Optional["subprocess.Popen[bytes]"] = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            cwd=cwd,
            # Ctrl-C is for the test runner, which then stops the mock.
            start_new_session=True,
        )
        self._name = f"cuecard {' '.join(words)} {os.fspath(file)}"
        self._ready: Dict[str, Any] = self._wait_until_ready()

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
        # Later lines are for those who read them; a file takes them all.
        self._drain = _Drain(process.stdout)
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
            self._end(signal.SIGKILL)


class _Drain:
    """Reads a pipe to its end in a thread, so that the writer never waits."""

    def __init__(self, pipe: Any) -> None:
        import threading

        def read() -> None:
            with pipe:
                while pipe.read(65536):
                    pass

        self._thread = threading.Thread(target=read, daemon=True)
        self._thread.start()


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

    def stop(self) -> None:
        """Judges the runs of the agent, which end when their client closes their input.

        Raises :class:`MockError` if one failed or still runs, or if there was none.
        """
        if self._stopped:
            return
        self._stopped = True
        try:
            runs = sorted(self._runs.glob("*/trace.jsonl"))
            if not runs:
                raise MockError(f"`cuecard acp {self._file}` was not started by the client")
            failures = [text for text in map(_failure_of_trace, runs) if text is not None]
            if failures:
                raise MockError(f"`cuecard acp {self._file}` failed\n\n" + "\n\n".join(failures))
        finally:
            shutil.rmtree(self._runs, ignore_errors=True)


def _failure_of_trace(path: Path) -> Optional[str]:
    """What went wrong in a run of an agent, by its trace; ``None`` if it passed."""
    lines = [json.loads(line) for line in path.read_bytes().split(b"\n")[:-1]]
    ends = [line for line in lines if line.get("kind") == "end"]
    logs = [line["data"] for line in lines if line.get("type") == "log"]
    texts = [str(data.get("message")) for data in logs if data.get("level") in ("error", "warning")]
    if not ends:
        texts.append("the agent has not ended: close its standard input, and wait for its end")
    elif ends[-1].get("status") == "success":
        return None
    return "\n\n".join(texts)


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
