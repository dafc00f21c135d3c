"""A program that talks to a model, with nothing but Python: it finds the API as any client of OpenAI's does.

    cuecard serve llm examples/llm/two-turns.yaml -- python3 examples/llm/ask.py
"""

import json
import os
import urllib.request

URL = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
HEADERS = {"content-type": "application/json", "authorization": "Bearer " + os.environ["OPENAI_API_KEY"]}

messages = []
for question in ["What is the capital of France?", "And of Italy?"]:
    messages.append({"role": "user", "content": question})
    body = json.dumps({"model": "any", "messages": messages}).encode()
    with urllib.request.urlopen(urllib.request.Request(URL, body, HEADERS)) as response:
        answer = json.load(response)["choices"][0]["message"]
    messages.append(answer)
    print(f"{question} {answer['content']}")
