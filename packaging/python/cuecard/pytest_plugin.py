"""The pytest fixtures. A test fails if the verdict of one of its mocks is a failure."""

from __future__ import annotations

from typing import Any, Callable, Generator, List

import pytest

from ._mocks import AcpAgent, Mock, MockError, Model, Service, mock_acp, start_model, start_service

if int(pytest.__version__.split(".")[0]) < 8:
    raise pytest.UsageError(
        f"the fixtures of cuecard need pytest 8 or newer, and this is {pytest.__version__}: "
        "`pip install --upgrade pytest`, or leave them out with `-p no:cuecard`"
    )

_MOCKS: "pytest.StashKey[List[Mock]]" = pytest.StashKey()


def _starter(request: pytest.FixtureRequest, start: Callable[..., Any]) -> Generator[Callable[..., Any], None, None]:
    mocks = request.node.stash.setdefault(_MOCKS, [])

    def begin(file: Any, *options: str) -> Any:
        try:
            mock = start(file, *options, cwd=request.path.parent)
        except MockError as error:
            findings = str(error)
        else:
            mocks.append(mock)
            return mock
        pytest.fail(findings, pytrace=False)

    yield begin
    # They were judged after the test; this is for a test that never got so far.
    for mock in mocks:
        try:
            mock.stop()
        except MockError:
            pass


@pytest.fixture
def cuecard_model(request: pytest.FixtureRequest) -> Generator[Callable[..., Model], None, None]:
    """``cuecard_model("capital.yaml")`` starts a mock of the model's API, with the file beside the test's."""
    yield from _starter(request, start_model)


@pytest.fixture
def cuecard_service(request: pytest.FixtureRequest) -> Generator[Callable[..., Service], None, None]:
    """``cuecard_service("session.yaml")`` starts a mock of an agent service, with the file beside the test's."""
    yield from _starter(request, start_service)


@pytest.fixture
def cuecard_acp(request: pytest.FixtureRequest) -> Generator[Callable[..., AcpAgent], None, None]:
    """``cuecard_acp("session.yaml").command`` starts a mock ACP agent, with the file beside the test's."""
    yield from _starter(request, mock_acp)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    """Judges the mocks of a test as a part of it, so that a failed verdict is its failure and no error after it."""
    failed = True
    try:
        result = yield
        failed = False
    finally:
        findings = _stop_all(item.stash.get(_MOCKS, []))
        if failed:
            for text in findings:
                item.add_report_section("call", "cuecard", text)
    if findings:
        pytest.fail("\n\n".join(findings), pytrace=False)
    return result


def _stop_all(mocks: List[Mock]) -> List[str]:
    findings = []
    for mock in mocks:
        try:
            mock.stop()
        except MockError as error:
            findings.append(str(error))
    return findings
