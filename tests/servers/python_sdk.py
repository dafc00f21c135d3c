"""A small server on the Python MCP SDK, for the tests against real peers.

    python_sdk.py stdio
    python_sdk.py http                  says `listening on URL` on standard error, once it listens
    python_sdk.py http-unix SOCKET      the same, over a Unix socket

Its tools give what a test can't get from a peer made by ourselves: both eras of the protocol, structured content
made by the SDK, images, tool errors, log notifications, questions for a user, and calls that hang.
"""

import base64
import logging
import os
import socket
import sys
from typing import Annotated, Any

import anyio
import uvicorn
from mcp.server import MCPServer
from mcp.server.mcpserver import Context, Image
from mcp.server.elicitation import ElicitationResult
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.resolve import Elicit, ListRoots, Resolve, Sample
from mcp_types import (
    CreateMessageResult,
    CreateMessageResultWithTools,
    ListRootsResult,
    ModelHint,
    ModelPreferences,
    SamplingMessage,
    TextContent,
    Tool,
)
from pydantic import BaseModel, Field

PICTURE = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)

server = MCPServer("python-sdk", version="1.2.3", log_level="WARNING")
cancelled = 0


@server.tool()
def add(a: int, b: int) -> dict[str, int]:
    """Adds two numbers: structured content."""
    return {"sum": a + b}


@server.tool()
def issues(labels: list[str], ids: list[int] | None = None) -> list[dict[str, str]]:
    """A list of one."""
    return [{"labels": ",".join(labels), "ids": str(ids)}]


@server.tool(structured_output=False)
def shout(text: str) -> str:
    """Text and nothing else."""
    return text.upper()


@server.tool(structured_output=False)
def picture() -> Image:
    """A PNG of one pixel."""
    return Image(data=PICTURE, format="png")


@server.tool()
def fail(reason: str) -> str:
    """A tool error."""
    raise ToolError(f"no luck: {reason}")


@server.tool()
def era(context: Context) -> dict[str, str]:
    """The version of the protocol that this very request speaks."""
    return {"protocol": context.request_context.protocol_version}


@server.tool()
async def say(message: str, context: Context) -> str:
    """A log notification, and an answer."""
    await context.info(message)
    return "said"


class Table(BaseModel):
    guests: int = Field(default=2, ge=1)
    outside: bool = False


class Name(BaseModel):
    name: str


def ask_table(day: str) -> Elicit[Table]:
    return Elicit(f"A table on {day}: for how many?", Table)


def ask_name(table: Annotated[ElicitationResult[Table], Resolve(ask_table)]) -> Elicit[Name]:
    return Elicit("In whose name?", Name)


@server.tool()
async def book(
    day: str,
    table: Annotated[ElicitationResult[Table], Resolve(ask_table)],
    name: Annotated[ElicitationResult[Name], Resolve(ask_name)],
) -> dict[str, Any]:
    """Asks two questions, one after the other: requests in the older era, rounds of one call in the newer."""
    guests = table.data.guests if table.action == "accept" else None
    return {"day": day, "guests": guests, "name": name.data.name if name.action == "accept" else name.action}


@server.tool()
async def confirm(what: str, context: Context) -> dict[str, Any]:
    """Asks in the middle of its work, which only the older era has a way for."""
    answer = await context.elicit(f"Really {what}?", schema=Name)
    return {"what": what, "by": answer.data.name if answer.action == "accept" else answer.action}


def messages(topic: str) -> list[SamplingMessage]:
    return [SamplingMessage(role="user", content=TextContent(type="text", text=f"Name a {topic}."))]


def ask_model(topic: str) -> Sample:
    preferences = ModelPreferences(hints=[ModelHint(name="large-4")])
    return Sample(messages(topic), max_tokens=20, model_preferences=preferences)


def ask_roots() -> ListRoots:
    return ListRoots()


@server.tool()
async def consult(
    topic: str,
    reply: Annotated[CreateMessageResult, Resolve(ask_model)],
    roots: Annotated[ListRootsResult, Resolve(ask_roots)],
) -> dict[str, Any]:
    """Asks the client's model, and for its roots, in the way of either era."""
    return {"text": reply.content.text, "model": reply.model, "roots": [str(root.uri) for root in roots.roots]}


def ask_for_tool_use(topic: str) -> Sample:
    return Sample(messages(topic), max_tokens=20, tools=[Tool(name="look_up", input_schema={"type": "object"})])


@server.tool()
async def consult_with_tools(
    topic: str, reply: Annotated[CreateMessageResultWithTools, Resolve(ask_for_tool_use)]
) -> dict[str, Any]:
    """Asks a model that may use tools, which tools it uses."""
    return {"stop": reply.stop_reason, "uses": [[block.name, block.input] for block in reply.content]}


@server.tool()
async def consult_directly(topic: str, context: Context) -> dict[str, Any]:
    """The same in the middle of its work, which only the older era has a way for."""
    reply = await context.session.create_message(messages(topic), max_tokens=20)
    roots = await context.session.list_roots()
    return {"text": reply.content.text, "model": reply.model, "roots": [str(root.uri) for root in roots.roots]}


@server.tool()
async def hang() -> str:
    """Never answers; counts that it was cancelled."""
    global cancelled
    try:
        await anyio.sleep_forever()
    except anyio.get_cancelled_exc_class():
        cancelled += 1
        raise


@server.tool()
def hung() -> dict[str, int]:
    """How many calls of `hang` were cancelled."""
    return {"cancelled": cancelled}


def main() -> None:
    if sys.argv[1] == "stdio":
        server.run("stdio")
        return
    if sys.argv[1] == "http-unix":
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(sys.argv[2])
        listener.listen()
        url = f"http+unix://{os.path.abspath(sys.argv[2])}:/mcp"
    else:
        listener = socket.create_server(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/mcp"
    logging.disable(logging.INFO)
    # The socket listens already, so whoever reads this may connect.
    print(f"listening on {url}", file=sys.stderr, flush=True)
    config = uvicorn.Config(server.streamable_http_app(), log_level="warning")
    uvicorn.Server(config).run(sockets=[listener])


if __name__ == "__main__":
    main()
