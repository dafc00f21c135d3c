"""A client on the Python SDK, 1.x or 2.x: starts a server over stdio, lists its tools and makes the calls of its input.

usage: python_calls.py COMMAND ARG… < calls.json
The input is a list of {"name", "arguments"}; a line of JSON is written for the tools and for each call.
"""

import asyncio
import json
import sys

from mcp import ClientSession, StdioServerParameters

try:
    from mcp import Client
except ImportError:
    Client = None


def member(thing, *names):
    """The member of a model, which the versions of the SDK spell differently."""
    return next(getattr(thing, name) for name in names if hasattr(thing, name))


async def work(client, protocol):
    listed = await client.list_tools()
    tools = [tool.name for tool in listed.tools]
    print(json.dumps({"protocol": protocol, "tools": tools}))
    for call in json.load(sys.stdin):
        progress = []

        async def told(done, total, message):
            progress.append(message)

        result = await client.call_tool(call["name"], call["arguments"], progress_callback=told)
        print(
            json.dumps(
                {
                    "is_error": member(result, "is_error", "isError"),
                    "structured": member(result, "structured_content", "structuredContent"),
                    "text": result.content[0].text,
                    "progress": progress,
                }
            )
        )


async def main():
    server = StdioServerParameters(command=sys.argv[1], args=sys.argv[2:])
    if Client is not None:
        async with Client(server) as client:
            await work(client, client.protocol_version)
        return
    from mcp.client.stdio import stdio_client

    async with stdio_client(server) as (read, write):
        async with ClientSession(read, write) as session:
            hello = await session.initialize()
            await work(session, hello.protocolVersion)


asyncio.run(main())
