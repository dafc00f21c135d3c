"""The pytest fixtures, and who judges their mocks.

A request that a mock did not expect fails the test at the end of its body. The mocks go on until their fixture is torn
down, which is after the fixtures that depend on it. What fails then, such as a turn that was not played, is an error of
the teardown.
"""

from __future__ import annotations

from typing import Any, Callable, Generator, List, Optional, Set

import pytest

from ._mocks import (
    AcpAgent,
    Mock,
    MockError,
    Model,
    Service,
    judge_forgotten,
    mock_acp,
    running,
    start_model,
    start_service,
)

if int(pytest.__version__.split(".")[0]) < 8:
    raise pytest.UsageError(
        f"the fixtures of cuecard need pytest 8 or newer, and this is {pytest.__version__}: "
        "`pip install --upgrade pytest`, or leave them out with `-p no:cuecard`"
    )

#: All mocks of a test.
_MOCKS: "pytest.StashKey[List[Mock]]" = pytest.StashKey()
#: Whether the body of the test passed, and no mock had anything against it then.
_PASSED: "pytest.StashKey[bool]" = pytest.StashKey()


def _starter(request: pytest.FixtureRequest, start: Callable[..., Any]) -> Generator[Callable[..., Any], None, None]:
    item = request.node
    item.stash[_PASSED] = False
    mocks: List[Mock] = []

    def begin(file: Any, *options: str) -> Any:
        try:
            mock = start(file, *options, cwd=request.path.parent)
        except MockError as error:
            findings = str(error)
        else:
            mocks.append(mock)
            item.stash.setdefault(_MOCKS, []).append(mock)
            return mock
        pytest.fail(findings, pytrace=False)

    yield begin
    # The fixtures that depend on this one are torn down, so nobody uses the mocks any more.
    findings = "\n\n".join(_stop_all(mocks))
    if findings and item.stash[_PASSED]:
        pytest.fail(findings, pytrace=False)
    elif findings:
        item.add_report_section("teardown", "cuecard", findings)


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
    """Fails a test at its end if one of its mocks got a request that it did not expect, or if its body started a mock that
    nobody stopped, and that has failed."""
    before = running()
    result: Any = None
    skipped: Optional[BaseException] = None
    try:
        result = yield
    except pytest.skip.Exception as error:
        skipped = error
    except BaseException:
        for text in judge_forgotten(before | _mocks_of(item)):
            item.add_report_section("call", "cuecard", text)
        raise
    mocks = _mocks_of(item)
    findings = [text for mock in mocks for text in mock.failures_so_far()]
    findings += judge_forgotten(before | mocks)
    if findings:
        pytest.fail("\n\n".join(findings), pytrace=False)
    if skipped is not None:
        raise skipped
    item.stash[_PASSED] = True
    return result


def _mocks_of(item: pytest.Item) -> Set[Mock]:
    return set(item.stash.get(_MOCKS, []))


def _stop_all(mocks: List[Mock]) -> List[str]:
    findings = []
    for mock in mocks:
        try:
            mock.stop()
        except MockError as error:
            findings.append(str(error))
    return findings
