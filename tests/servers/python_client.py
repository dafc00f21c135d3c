"""A client on the Python SDK, of version 1 or 2: calls `echo` and `get-sum` of a server, and prints what came as JSON.

Arguments: `auto` or `legacy`, then the command that starts the server, or its URL.
"""

import asyncio
import json
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client


async def work(session):
    listed = await session.list_tools()
    names = [tool.name for tool in listed.tools]
    results = []
    for name, arguments in [("echo", {"message": "hello"}), ("get-sum", {"a": 2, "b": 3}), ("no-such-tool", {})]:
        try:
            result = await session.call_tool(name, arguments)
            results.append(result.model_dump(mode="json", by_alias=True, exclude_none=True).get("content"))
        except Exception as error:
            results.append(type(error).__name__)
    print(json.dumps({"tools": len(names), "results": results}))


async def main(era, where):
    parameters = StdioServerParameters(command=where[0], args=where[1:])
    if era == "auto":
        from mcp import Client

        is_url = "://" in where[0]
        async with Client(where[0] if is_url else stdio_client(parameters)) as client:
            await work(client)
        return
    async with stdio_client(parameters) as (read, write):
        async with ClientSession(read, write) as session:
            await session.initialize()
            await work(session)


asyncio.run(main(sys.argv[1], sys.argv[2:]))
