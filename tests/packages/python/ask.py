"""Asks a model, as an application would."""

import json
import urllib.request


def ask(base_url: str, question: str) -> str:
    body = {"model": "any", "messages": [{"role": "user", "content": question}]}
    request = urllib.request.Request(
        f"{base_url}/chat/completions", json.dumps(body).encode(), {"content-type": "application/json"}
    )
    with urllib.request.urlopen(request) as response:
        return json.load(response)["choices"][0]["message"]["content"]
