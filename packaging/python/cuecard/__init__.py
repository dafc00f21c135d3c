"""Mocks for tests of AI agents: a model's API, an agent service and an ACP agent, each played from a timeline.

The same mocks are pytest fixtures: ``cuecard_model``, ``cuecard_service`` and ``cuecard_acp``. They come with this
package, without a line in ``conftest.py``.
"""

from ._mocks import (
    AcpAgent,
    Mock,
    MockError,
    Model,
    Service,
    find_binary,
    mock_acp,
    start_model,
    start_service,
)

__all__ = [
    "AcpAgent",
    "Mock",
    "MockError",
    "Model",
    "Service",
    "find_binary",
    "mock_acp",
    "start_model",
    "start_service",
]
