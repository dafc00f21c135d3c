"""Plays a cassette of notes with a client of the Python SDK, of version 1.x or 2.x: the first argument is the URL of the
server, or all are the command that starts it. Prints what came, as a line of JSON for each answer."""

import asyncio
import json
import sys
from contextlib import asynccontextmanager

from mcp import ClientSession, StdioServerParameters, stdio_client

try:
    from mcp import Client
except ImportError:
    Client = None


@asynccontextmanager
async def connected():
    url = sys.argv[1] if "://" in sys.argv[1] else None
    parameters = None if url else StdioServerParameters(command=sys.argv[1], args=sys.argv[2:])
    if Client:
        async with Client(url or parameters) as client:
            yield client
        return
    if url:
        from mcp.client.streamable_http import streamablehttp_client as over_http

        transport = over_http(url)
    else:
        transport = stdio_client(parameters)
    async with transport as streams, ClientSession(*streams[:2]) as session:
        await session.initialize()
        yield session


async def main():
    async with connected() as session:
        tools = await session.list_tools()
        print(json.dumps(sorted(tool.name for tool in tools.tools)))
        for tool, arguments in [("add", {"text": "Tea"}), ("list", {}), ("drop", {})]:
            result = (await session.call_tool(tool, arguments)).model_dump(by_alias=True)
            print(json.dumps([result["isError"], result["content"][0]["text"], result.get("structuredContent")]))
        try:
            await session.call_tool("add", {"text": ""})
        except Exception as error:
            print(json.dumps(str(error)))


asyncio.run(main())
