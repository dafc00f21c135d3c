#!/usr/bin/env python3
"""A small agent in a terminal: it asks a model for what is typed, and does the calls that the model makes."""

import json
import os
import pathlib
import subprocess
import urllib.request

PATIENCE = float(os.environ.get("MODEL_PATIENCE", "60"))


def function(name, *arguments):
    properties = {argument: {"type": "string"} for argument in arguments}
    schema = {"type": "object", "properties": properties, "required": list(arguments)}
    return {"type": "function", "function": {"name": name, "description": "", "parameters": schema}}


TOOLS = [function("runCmd", "cmd"), function("writeFile", "path", "content"), function("look_up", "question")]


def ask(messages):
    body = json.dumps({"model": "scripted", "messages": messages, "tools": TOOLS}).encode()
    request = urllib.request.Request(
        os.environ["MODEL_URL"] + "/chat/completions",
        body,
        {"content-type": "application/json", "authorization": "Bearer " + os.environ["MODEL_KEY"]},
    )
    while True:
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                return json.load(answer)["choices"][0]["message"]
        except TimeoutError:
            print("asking again", flush=True)


def do(call):
    arguments = json.loads(call["function"]["arguments"])
    match call["function"]["name"]:
        case "runCmd":
            done = subprocess.run(arguments["cmd"], shell=True, capture_output=True, text=True)
            return done.stdout + done.stderr
        case "writeFile":
            pathlib.Path(arguments["path"]).write_text(arguments["content"])
            return "stored"
        case name:
            return f"{name} is not done"


def main():
    messages = []
    while True:
        try:
            messages.append({"role": "user", "content": input("? ")})
        except EOFError:
            return
        print("working", flush=True)
        while True:
            answer = ask(messages)
            messages.append(answer)
            if answer.get("content"):
                print(answer["content"], flush=True)
            if not answer.get("tool_calls"):
                break
            for call in answer["tool_calls"]:
                messages.append({"role": "tool", "tool_call_id": call["id"], "content": do(call)})
        print("done", flush=True)


main()
