"""Talks to models through the SDKs of OpenAI and Anthropic, and prints all that it saw as JSON.

Usage: record.py URL. What it sees must be the same from a recording proxy, and from the recording at play. Each
conversation begins in its own way, so that a player can tell them apart.
"""

import json
import sys

import anthropic
import openai

URL = sys.argv[1]
SEEN = {}
WEATHER = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
CHAT_TOOLS = [{"type": "function", "function": {"name": "get_weather", "parameters": WEATHER}}]
RESPONSES_TOOLS = [{"type": "function", "name": "get_weather", "parameters": WEATHER, "strict": False}]
MESSAGES_TOOLS = [{"name": "get_weather", "input_schema": WEATHER}]

OPEN_AI = openai.OpenAI(base_url=f"{URL}/v1", api_key="a-key-of-twelve")
CLAUDE = anthropic.Anthropic(base_url=URL, api_key="a-key-of-twelve")


def seen(function):
    try:
        SEEN[function.__name__] = function()
    except Exception as error:  # every outcome is printed, and judged by who started us
        SEEN[function.__name__] = f"{type(error).__name__}: {error}"
    return function


def chat(messages, **options):
    with OPEN_AI.chat.completions.stream(
        model="m", messages=messages, tools=CHAT_TOOLS, stream_options={"include_usage": True}, **options
    ) as stream:
        return stream.get_final_completion()


@seen
def chat_rounds():
    messages, outcomes = [{"role": "user", "content": "By chat: Compare Paris and Rome"}], []
    for _ in range(2):
        answer = chat(messages)
        message = answer.choices[0].message
        calls = message.tool_calls or []
        outcomes.append([
            message.content, [json.loads(call.function.arguments) for call in calls],
            answer.choices[0].finish_reason, answer.usage.total_tokens,
        ])
        messages.append({"role": "assistant", "content": message.content, "tool_calls": [
            {"id": c.id, "type": "function", "function": {"name": c.function.name, "arguments": c.function.arguments}} for c in calls
        ]})
        messages += [{"role": "tool", "tool_call_id": call.id, "content": "warm"} for call in reversed(calls)]
    return outcomes


@seen
def chat_plain_and_again():
    messages = [{"role": "user", "content": "By chat: My name is Ada"}]
    first = OPEN_AI.chat.completions.create(model="m", messages=messages)
    messages += [first.choices[0].message, {"role": "user", "content": "What is my name?"}]
    second = OPEN_AI.chat.completions.create(model="m", messages=messages)
    return [first.choices[0].message.content, second.choices[0].message.content, second.usage.prompt_tokens]


@seen
def chat_limit_and_own_retry():
    answer = OPEN_AI.chat.completions.create(model="m", messages=[{"role": "user", "content": "By chat: Try it"}])
    try:
        OPEN_AI.with_options(max_retries=0).responses.create(model="m", input="By responses: Try it")
        return "no error"
    except openai.RateLimitError as error:
        return [answer.choices[0].message.content, error.status_code, error.response.headers["retry-after"],
                error.response.headers["x-limit"], error.body["message"]]


@seen
def responses_previous():
    first = OPEN_AI.responses.create(model="m", input="By responses: What is the weather in Paris?", tools=RESPONSES_TOOLS)
    call = next(item for item in first.output if item.type == "function_call")
    second = OPEN_AI.responses.create(
        model="m", previous_response_id=first.id, tools=RESPONSES_TOOLS,
        input=[{"type": "function_call_output", "call_id": call.call_id, "output": "sunny"}],
    )
    return [first.output_text, call.name, json.loads(call.arguments), second.output_text, second.status]


@seen
def responses_thinking():
    with OPEN_AI.responses.stream(
        model="m", input="By responses: What is 6 times 7?", reasoning={"effort": "low", "summary": "auto"}
    ) as stream:
        answer = stream.get_final_response()
    return [[item.type for item in answer.output], answer.output[0].summary[0].text, answer.output_text]


@seen
def messages_rounds():
    messages, outcomes = [{"role": "user", "content": "By messages: Compare Paris and Rome"}], []
    for _ in range(2):
        with CLAUDE.messages.stream(model="m", max_tokens=100, messages=messages, tools=MESSAGES_TOOLS) as stream:
            answer = stream.get_final_message()
        calls = [block for block in answer.content if block.type == "tool_use"]
        outcomes.append([
            [block.text for block in answer.content if block.type == "text"], [call.input for call in calls],
            answer.stop_reason, answer.usage.output_tokens,
        ])
        messages.append({"role": "assistant", "content": [
            block.model_dump(include={"type", "text", "id", "name", "input"}) for block in answer.content
        ]})
        messages.append({"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": call.id, "content": "warm"} for call in calls
        ]})
    return outcomes


@seen
def messages_thinking():
    answer = CLAUDE.messages.create(
        model="m", max_tokens=2000, thinking={"type": "enabled", "budget_tokens": 1024},
        messages=[{"role": "user", "content": "By messages: What is 6 times 7?"}],
    )
    return [[block.type for block in answer.content], answer.content[0].thinking, answer.content[1].text]


@seen
def messages_limit_and_own_retry():
    answer = CLAUDE.messages.create(
        model="m", max_tokens=100, messages=[{"role": "user", "content": "By messages: Try it"}]
    )
    return [answer.content[0].text, answer.stop_reason]


print(json.dumps(SEEN))
