#!/usr/bin/env python3
"""A small client of ACP in a terminal: what is typed goes to the agent, what it says and does is shown.

    acp_client.py [--no-files] [--late] COMMAND [ARGUMENT…]

With --late, the agent is started once there is a prompt for it.
"""

import json
import pathlib
import subprocess
import sys

HAS_FILES = "--no-files" not in sys.argv
IS_LATE = "--late" in sys.argv
FS = {"readTextFile": HAS_FILES, "writeTextFile": HAS_FILES}


class Agent:
    def __init__(self, command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.id = 0

    def send(self, **message):
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self.process.stdin.flush()

    def ask(self, method, **params):
        self.id += 1
        self.send(id=self.id, method=method, params=params)
        while True:
            line = self.process.stdout.readline()
            if not line:
                sys.exit("the agent is gone")
            message = json.loads(line)
            if message.get("id") == self.id and "method" not in message:
                return message.get("result") or sys.exit(str(message.get("error")))
            if "id" in message:
                self.send(id=message["id"], result=self.do(message["method"], message["params"]))
            else:
                show(message["params"]["update"])

    def do(self, method, params):
        match method:
            case "session/request_permission":
                print("allow " + params["toolCall"].get("title", "a call") + "? yes", flush=True)
                return {"outcome": {"outcome": "selected", "optionId": params["options"][0]["optionId"]}}
            case "fs/write_text_file":
                path = pathlib.Path(params["path"])
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(params["content"])
                return {}
            case "fs/read_text_file":
                return {"content": pathlib.Path(params["path"]).read_text()}


def show(update):
    match update["sessionUpdate"]:
        case "agent_message_chunk":
            print("agent: " + update["content"].get("text", ""), flush=True)
        case "tool_call":
            print("call: " + update["title"], flush=True)


def start():
    agent = Agent([word for word in sys.argv[1:] if word not in ("--no-files", "--late")])
    agent.ask("initialize", protocolVersion=1, clientCapabilities={"fs": FS, "terminal": False})
    agent.session = agent.ask("session/new", cwd=str(pathlib.Path.cwd()), mcpServers=[])["sessionId"]
    return agent


def main():
    agent = None if IS_LATE else start()
    while True:
        try:
            prompt = input("> ")
        except EOFError:
            return
        agent = agent or start()
        answer = agent.ask("session/prompt", sessionId=agent.session, prompt=[{"type": "text", "text": prompt}])
        print("stopped: " + answer["stopReason"], flush=True)


main()
