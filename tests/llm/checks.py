"""Talks to a stand-in through the SDKs of OpenAI and Anthropic, and prints what came of each check as JSON.

Usage: checks.py URL. The stand-in plays `scenarios/`, each chosen by its name.
"""

import json
import sys
import time
import uuid

import anthropic
import openai

URL = sys.argv[1]
OUTCOMES = {}
WEATHER = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
CHAT_TOOLS = [{"type": "function", "function": {"name": "get_weather", "parameters": WEATHER}}]
RESPONSES_TOOLS = [{"type": "function", "name": "get_weather", "parameters": WEATHER, "strict": False}]
MESSAGES_TOOLS = [{"name": "get_weather", "input_schema": WEATHER}]


def headers(scenario):
    return {"x-scenario-name": scenario, "x-cuecard-session": uuid.uuid4().hex}


def open_ai(scenario, **options):
    return openai.OpenAI(base_url=f"{URL}/v1", api_key="k", default_headers=headers(scenario), **options)


def claude(scenario, **options):
    return anthropic.Anthropic(base_url=URL, api_key="k", default_headers=headers(scenario), **options)


def check(function):
    try:
        OUTCOMES[function.__name__] = function()
    except Exception as error:  # every outcome is printed, and judged by who started us
        OUTCOMES[function.__name__] = f"{type(error).__name__}: {error}"
    return function


def user(text):
    return [{"role": "user", "content": text}]


@check
def chat_text():
    answer = open_ai("text").chat.completions.create(model="m", messages=user("Say hello"))
    return [answer.choices[0].message.content, answer.choices[0].finish_reason, answer.model, answer.usage.total_tokens > 0]


@check
def chat_stream():
    stream = open_ai("text").chat.completions.create(
        model="m", messages=user("Say hello"), stream=True, stream_options={"include_usage": True}
    )
    text, ids, usage, reasons = "", set(), None, []
    for chunk in stream:
        ids.add(chunk.id)
        usage = chunk.usage or usage
        for choice in chunk.choices:
            text += choice.delta.content or ""
            reasons += [choice.finish_reason] if choice.finish_reason else []
    return [text, len(ids), usage.completion_tokens > 0, reasons]


@check
def chat_tools():
    client = open_ai("tools")
    messages = user("What is the weather in Paris?")
    first = client.chat.completions.create(model="m", messages=messages, tools=CHAT_TOOLS)
    message = first.choices[0].message
    call = message.tool_calls[0]
    messages += [message, {"role": "tool", "tool_call_id": call.id, "content": "sunny"}]
    second = client.chat.completions.create(model="m", messages=messages, tools=CHAT_TOOLS)
    return [
        message.content, call.function.name, json.loads(call.function.arguments),
        first.choices[0].finish_reason, second.choices[0].message.content,
    ]


@check
def chat_parallel_stream():
    client = open_ai("parallel")
    messages = user("Compare Paris and Rome")
    with client.chat.completions.stream(model="m", messages=messages, tools=CHAT_TOOLS) as stream:
        message = stream.get_final_completion().choices[0].message
    calls = message.tool_calls
    messages.append({"role": "assistant", "tool_calls": [
        {"id": c.id, "type": "function", "function": {"name": c.function.name, "arguments": c.function.arguments}} for c in calls
    ]})
    messages += [{"role": "tool", "tool_call_id": call.id, "content": "warm"} for call in reversed(calls)]
    second = client.chat.completions.create(model="m", messages=messages, tools=CHAT_TOOLS)
    return [[json.loads(call.function.arguments) for call in calls], second.choices[0].message.content]


@check
def chat_thinking_is_not_sent():
    answer = open_ai("thinking").chat.completions.create(model="m", messages=user("What is 6 times 7?"))
    return answer.choices[0].message.content


@check
def chat_limit_and_retry():
    client = open_ai("limit", max_retries=0)
    try:
        client.chat.completions.create(model="m", messages=user("Try it"))
        return "no error"
    except openai.RateLimitError as error:
        seen = [error.status_code, error.response.headers["retry-after"], error.response.headers["x-limit"], error.body["message"]]
    began = time.monotonic()
    answer = open_ai("limit").chat.completions.create(model="m", messages=user("Try it"))
    return seen + [answer.choices[0].message.content, time.monotonic() - began >= 1]


@check
def chat_structured():
    schema = {"type": "object", "properties": {"name": {"type": "string"}, "born": {"type": "integer"}},
              "required": ["name", "born"], "additionalProperties": False}
    answer = open_ai("structured").chat.completions.create(
        model="m", messages=user("Who is Ada?"),
        response_format={"type": "json_schema", "json_schema": {"name": "person", "schema": schema, "strict": True}},
    )
    return json.loads(answer.choices[0].message.content)


@check
def chat_miss():
    try:
        open_ai("text").chat.completions.create(model="m", messages=user("Say hello") + [
            {"role": "assistant", "content": "Hello, wörld – 你好! This text is long enough for several deltas."},
            {"role": "user", "content": "And now?"},
        ])
        return "no error"
    except openai.NotFoundError as error:
        return [error.status_code, "script ended" in str(error)]


@check
def responses_text():
    answer = open_ai("text").responses.create(model="m", input="Say hello")
    return [answer.output_text, answer.status, answer.usage.total_tokens > 0]


@check
def responses_count():
    count = open_ai("text").responses.input_tokens.count(model="m", input="Say hello")
    return [count.object, count.input_tokens > 0]


@check
def responses_stream():
    stream = open_ai("text").responses.create(model="m", input="Say hello", stream=True)
    events = list(stream)
    numbers = [event.sequence_number for event in events]
    text = "".join(event.delta for event in events if event.type == "response.output_text.delta")
    return [text, numbers == list(range(len(events))), events[0].type, events[-1].type, events[-1].response.output_text == text]


@check
def responses_tools():
    client = open_ai("tools")
    first = client.responses.create(model="m", input="What is the weather in Paris?", tools=RESPONSES_TOOLS)
    call = next(item for item in first.output if item.type == "function_call")
    second = client.responses.create(
        model="m", previous_response_id=first.id, tools=RESPONSES_TOOLS,
        input=[{"type": "function_call_output", "call_id": call.call_id, "output": "sunny"}],
    )
    return [call.name, json.loads(call.arguments), second.output_text]


@check
def responses_parallel_stream():
    client = open_ai("parallel")
    history = [{"role": "user", "content": "Compare Paris and Rome"}]
    with client.responses.stream(model="m", input=history, tools=RESPONSES_TOOLS) as stream:
        first = stream.get_final_response()
    calls = [item for item in first.output if item.type == "function_call"]
    history += [{"type": "function_call", "call_id": c.call_id, "name": c.name, "arguments": c.arguments} for c in calls]
    history += [{"type": "function_call_output", "call_id": call.call_id, "output": "warm"} for call in calls]
    second = client.responses.create(model="m", input=history, tools=RESPONSES_TOOLS)
    return [[json.loads(call.arguments) for call in calls], second.output_text]


@check
def responses_previous():
    client = open_ai("turns")
    first = client.responses.create(model="m", input="My name is Ada")
    second = client.responses.create(model="m", input="What is my name?", previous_response_id=first.id)
    again = client.responses.retrieve(first.id)
    try:
        client.responses.create(model="m", input="x", previous_response_id="resp_foreign")
        foreign = "no error"
    except openai.NotFoundError as error:
        foreign = error.code
    return [first.output_text, second.output_text, again.output_text, foreign]


@check
def responses_thinking():
    answer = open_ai("thinking").responses.create(
        model="m", input="What is 6 times 7?", reasoning={"effort": "low", "summary": "auto"}
    )
    kinds = [item.type for item in answer.output]
    return [kinds, answer.output[0].summary[0].text, answer.output_text]


@check
def messages_text():
    answer = claude("text").messages.create(model="m", max_tokens=100, messages=user("Say hello"))
    return [answer.content[0].text, answer.stop_reason, answer.usage.output_tokens > 0]


@check
def messages_stream():
    with claude("text").messages.stream(model="m", max_tokens=100, messages=user("Say hello")) as stream:
        text = "".join(stream.text_stream)
        final = stream.get_final_message()
    return [text, final.content[0].text == text, final.stop_reason]


@check
def messages_tools():
    client = claude("tools")
    messages = user("What is the weather in Paris?")
    with client.messages.stream(model="m", max_tokens=100, messages=messages, tools=MESSAGES_TOOLS) as stream:
        first = stream.get_final_message()
    call = next(block for block in first.content if block.type == "tool_use")
    messages += [
        {"role": "assistant", "content": [block.model_dump(include={"type", "text", "id", "name", "input"}) for block in first.content]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": call.id, "content": "sunny"}]},
    ]
    second = client.messages.create(model="m", max_tokens=100, messages=messages, tools=MESSAGES_TOOLS)
    return [call.name, call.input, first.stop_reason, second.content[0].text]


@check
def messages_parallel():
    client = claude("parallel")
    messages = user("Compare Paris and Rome")
    first = client.messages.create(model="m", max_tokens=100, messages=messages, tools=MESSAGES_TOOLS)
    calls = [block for block in first.content if block.type == "tool_use"]
    messages += [
        {"role": "assistant", "content": [block.model_dump(include={"type", "text", "id", "name", "input"}) for block in first.content]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": call.id, "content": "warm"} for call in reversed(calls)]},
    ]
    second = client.messages.create(model="m", max_tokens=100, messages=messages, tools=MESSAGES_TOOLS)
    return [[call.input for call in calls], second.content[0].text]


@check
def messages_thinking():
    with claude("thinking").messages.stream(
        model="m", max_tokens=2000, messages=user("What is 6 times 7?"), thinking={"type": "enabled", "budget_tokens": 1024}
    ) as stream:
        final = stream.get_final_message()
    return [[block.type for block in final.content], final.content[0].thinking, len(final.content[0].signature) > 0, final.content[1].text]


@check
def messages_limit_and_retry():
    try:
        claude("limit", max_retries=0).messages.create(model="m", max_tokens=100, messages=user("Try it"))
        return "no error"
    except anthropic.RateLimitError as error:
        seen = [error.status_code, error.response.headers["retry-after"], error.body["error"]["type"]]
    answer = claude("limit").messages.create(model="m", max_tokens=100, messages=user("Try it"))
    return seen + [answer.content[0].text]


@check
def messages_overload():
    try:
        claude("overload", max_retries=1).messages.create(model="m", max_tokens=100, messages=user("Keep failing"))
        return "no error"
    except anthropic.APIStatusError as error:
        return [error.status_code, error.body["error"]["type"]]


@check
def messages_count_and_models():
    client = claude("text")
    count = client.messages.count_tokens(model="m", messages=user("Say hello"))
    models = [model.id for model in client.models.list()]
    return [count.input_tokens > 0, "scripted-1" in models, open_ai("text").models.retrieve("scripted-1").id]


@check
def disconnect_mid_stream():
    client = open_ai("slow")
    stream = client.chat.completions.create(model="m", messages=user("Tell me a story"), stream=True)
    for chunk in stream:
        if chunk.choices and chunk.choices[0].delta.content:
            break
    stream.close()
    return open_ai("text").chat.completions.create(model="m", messages=user("Say hello")).choices[0].finish_reason


print(json.dumps(OUTCOMES))
