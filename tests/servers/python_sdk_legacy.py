"""A small server on the Python MCP SDK before version 2, over each transport that it has.

    python_sdk_legacy.py stdio
    python_sdk_legacy.py sse | http | ws        says `listening on URL` on standard error, once it listens
    python_sdk_legacy.py http-unix SOCKET       the same, over a Unix socket

With `WANTED_TOKEN` set, only requests with that bearer token are answered.

Its tools are those of `python_sdk.py`, as far as scenarios that play against both need them.
"""

import base64
import contextlib
import logging
import os
import socket
import sys

import anyio
import uvicorn
from mcp.server.fastmcp import Context, FastMCP, Image
from mcp.server.fastmcp.exceptions import ToolError
from mcp.server.websocket import websocket_server
from mcp.types import SamplingMessage, TextContent
from starlette.applications import Starlette
from starlette.routing import WebSocketRoute

PICTURE = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)

server = FastMCP("python-sdk-legacy", log_level="WARNING")
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
async def say(message: str, context: Context) -> str:
    """A log notification and progress, and an answer."""
    await context.info(message)
    await context.report_progress(1, 2, "half")
    return "said"


@server.tool()
async def ask(context: Context) -> str:
    """Asks the client for its roots, and tells what came of it."""
    try:
        roots = await context.session.list_roots()
        return f"{len(roots.roots)} roots"
    except Exception as error:
        return f"refused: {error}"


@server.tool()
async def consult_directly(topic: str, context: Context) -> dict:
    """Asks the client's model, and for its roots."""
    message = SamplingMessage(role="user", content=TextContent(type="text", text=f"Name a {topic}."))
    reply = await context.session.create_message([message], max_tokens=20)
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


@server.tool()
def crash() -> str:
    """Ends the process without an answer."""
    os._exit(7)


async def websocket(scope, receive, send) -> None:
    async with websocket_server(scope, receive, send) as (read, write):
        inner = server._mcp_server
        await inner.run(read, write, inner.create_initialization_options())


class WebSocketEndpoint:
    """An application of its own, since a plain function would be given a WebSocket that is taken already."""

    async def __call__(self, scope, receive, send) -> None:
        await websocket(scope, receive, send)


class Guard:
    """Refuses requests without the token."""

    def __init__(self, app) -> None:
        self.app = app
        self.wanted = f"Bearer {os.environ['WANTED_TOKEN']}".encode()

    async def __call__(self, scope, receive, send) -> None:
        if scope["type"] == "lifespan" or dict(scope["headers"]).get(b"authorization") == self.wanted:
            await self.app(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close"})
        else:
            await send({"type": "http.response.start", "status": 401, "headers": []})
            await send({"type": "http.response.body", "body": b"no"})


def serve(app, listener: socket.socket) -> None:
    if "WANTED_TOKEN" in os.environ:
        app = Guard(app)
    tls = {}
    if "TLS_FOLDER" in os.environ:
        folder = os.environ["TLS_FOLDER"]
        tls = {"ssl_certfile": f"{folder}/server.pem", "ssl_keyfile": f"{folder}/server.key"}
    with contextlib.suppress(KeyboardInterrupt):
        uvicorn.Server(uvicorn.Config(app, log_level="warning", **tls)).run(sockets=[listener])


def main() -> None:
    transport = sys.argv[1]
    if transport == "stdio":
        server.run("stdio")
        return
    logging.disable(logging.INFO)
    # The sockets listen already when their address is told, so whoever reads it may connect.
    if transport == "http-unix":
        path = sys.argv[2]
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(path)
        listener.listen()
        print(f"listening on http+unix://{os.path.abspath(path)}:/mcp", file=sys.stderr, flush=True)
        serve(server.streamable_http_app(), listener)
        return
    listener = socket.create_server(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    scheme, path, app = {
        "sse": ("http", "/sse", server.sse_app),
        "http": ("http", "/mcp", server.streamable_http_app),
        "ws": ("ws", "/ws", lambda: Starlette(routes=[WebSocketRoute("/ws", WebSocketEndpoint())])),
    }[transport]
    if "TLS_FOLDER" in os.environ:
        scheme += "s"
    print(f"listening on {scheme}://127.0.0.1:{port}{path}", file=sys.stderr, flush=True)
    serve(app(), listener)


if __name__ == "__main__":
    main()
