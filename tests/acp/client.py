"""A real client of the Agent Client Protocol: starts an agent, sends prompts, serves its calls in this folder.

Usage: client.py PROMPT... -- COMMAND ARGUMENT...
Prints a line for each thing that the agent did.
"""

import asyncio
import os
import sys

import acp
from acp import schema


class Client(acp.Client):
    def __init__(self):
        self.terminals = {}

    async def session_update(self, session_id, update, **_):
        told = update.model_dump(by_alias=True, exclude_none=True)
        content = told.get("content") or told.get("entries") or ""
        text = content.get("text", "") if isinstance(content, dict) else ""
        print(told["sessionUpdate"], told.get("status", ""), text, flush=True)

    async def request_permission(self, session_id, tool_call, options, **_):
        chosen = next(option for option in options if option.kind == "allow_once")
        print("permission", chosen.option_id, flush=True)
        outcome = schema.AllowedOutcome(outcome="selected", option_id=chosen.option_id)
        return schema.RequestPermissionResponse(outcome=outcome)

    async def read_text_file(self, session_id, path, line=None, limit=None, **_):
        with open(path, encoding="utf-8") as file:
            return schema.ReadTextFileResponse(content=file.read())

    async def write_text_file(self, session_id, path, content, **_):
        with open(path, "w", encoding="utf-8") as file:
            file.write(content)
        return schema.WriteTextFileResponse()

    async def create_terminal(self, session_id, command, args=None, env=None, cwd=None, output_byte_limit=None, **_):
        process = await asyncio.create_subprocess_exec(
            command, *(args or []), cwd=cwd, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
        )
        terminal_id = f"terminal-{len(self.terminals) + 1}"
        self.terminals[terminal_id] = (process, asyncio.create_task(process.stdout.read()))
        return schema.CreateTerminalResponse(terminal_id=terminal_id)

    async def wait_for_terminal_exit(self, session_id, terminal_id, **_):
        process, _output = self.terminals[terminal_id]
        return schema.WaitForTerminalExitResponse(exit_code=await process.wait())

    async def terminal_output(self, session_id, terminal_id, **_):
        output = await self.terminals[terminal_id][1]
        return schema.TerminalOutputResponse(output=output.decode(), truncated=False)

    async def kill_terminal(self, session_id, terminal_id, **_):
        self.terminals[terminal_id][0].kill()
        return schema.KillTerminalResponse()

    async def release_terminal(self, session_id, terminal_id, **_):
        return schema.ReleaseTerminalResponse()


async def main():
    at = sys.argv.index("--")
    prompts, (command, *arguments) = sys.argv[1:at], sys.argv[at + 1 :]
    async with acp.spawn_agent_process(Client(), command, *arguments, transport_kwargs={"stderr": None}) as (agent, process):
        files = schema.FileSystemCapabilities(read_text_file=True, write_text_file=True)
        await agent.initialize(
            protocol_version=1, client_capabilities=schema.ClientCapabilities(fs=files, terminal=True)
        )
        session = await agent.new_session(cwd=os.getcwd(), mcp_servers=[])
        for prompt in prompts:
            try:
                answer = await agent.prompt(session_id=session.session_id, prompt=[acp.text_block(prompt)])
                print("stopped", answer.stop_reason, flush=True)
            except acp.RequestError as error:
                print("error", error.code, error.data, flush=True)


asyncio.run(main())
