"""Talks to a stand-in whose answers have faults through OpenAI's SDK, and prints what came of each as JSON.

Usage: faults.py URL. Each scenario is named after its fault. Every check asks twice in one session: what it saw of the
fault, then what the same request got.
"""

import json
import sys
import uuid

import openai

URL = sys.argv[1]
OUTCOMES = {}


def messages(sdk):
    """The prompt of the scenario, whose name is in it."""
    return [{"role": "user", "content": f"Say hello, {sdk.default_headers['x-scenario-name']}"}]


def client(scenario, **options):
    headers = {"x-scenario-name": scenario, "x-cuecard-session": uuid.uuid4().hex}
    return openai.OpenAI(base_url=f"{URL}/v1", api_key="k", default_headers=headers, **options)


def streamed(sdk):
    """The id and the text of a streamed answer."""
    text, last = "", None
    for chunk in sdk.chat.completions.create(model="m", messages=messages(sdk), stream=True):
        last = chunk.id
        text += chunk.choices[0].delta.content or ""
    return last, text


def plain(sdk):
    return None, sdk.chat.completions.create(model="m", messages=messages(sdk)).choices[0].message.content


def seen(ask, sdk):
    try:
        ask(sdk)
        return "no error"
    except Exception as error:  # which one it is, is what is asked
        return type(error).__name__


for fault, ask in [
    ("cut", streamed), ("cut", plain), ("garbage", streamed), ("garbage", plain), ("crash", streamed),
    ("duplicate", streamed), ("split", streamed),
]:
    sdk = client(fault, max_retries=0)
    name = f"{fault}_{'stream' if ask is streamed else 'plain'}"
    OUTCOMES[name] = [seen(ask, sdk), ask(sdk)[1]]

OUTCOMES["crash_plain_and_the_own_retry"] = plain(client("crash"))[1]
OUTCOMES["wrong_id_stream"] = list(streamed(client("wrong_id")))
print(json.dumps(OUTCOMES))
