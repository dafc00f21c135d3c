// Talks to a stand-in through the SDKs of OpenAI and Anthropic, and prints what came of each check as JSON.
//
// Usage: checks.mjs URL FOLDER_OF_NODE_MODULES. The stand-in plays `scenarios/`, each chosen by its name.

import { createRequire } from "node:module";
import { randomUUID } from "node:crypto";
import { pathToFileURL } from "node:url";

const [url, folder] = process.argv.slice(2);
const require = createRequire(pathToFileURL(`${folder}/`));
const { default: OpenAI } = require("openai");
const { default: Anthropic } = require("@anthropic-ai/sdk");

const weather = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
const chatTools = [{ type: "function", function: { name: "get_weather", parameters: weather } }];
const responsesTools = [{ type: "function", name: "get_weather", parameters: weather, strict: false }];
const messagesTools = [{ name: "get_weather", input_schema: weather }];
const text = "Hello, wörld – 你好! This text is long enough for several deltas.";

const headers = (scenario) => ({ "x-scenario-name": scenario, "x-cuecard-session": randomUUID() });
const openAI = (scenario, options = {}) =>
  new OpenAI({ baseURL: `${url}/v1`, apiKey: "k", defaultHeaders: headers(scenario), ...options });
const claude = (scenario, options = {}) =>
  new Anthropic({ baseURL: url, apiKey: "k", defaultHeaders: headers(scenario), ...options });
const user = (content) => [{ role: "user", content }];

const checks = {
  async chat_text() {
    const answer = await openAI("text").chat.completions.create({ model: "m", messages: user("Say hello") });
    return [answer.choices[0].message.content, answer.choices[0].finish_reason, answer.model, answer.usage.total_tokens > 0];
  },
  async chat_stream() {
    const stream = await openAI("text").chat.completions.create({
      model: "m", messages: user("Say hello"), stream: true, stream_options: { include_usage: true },
    });
    let said = "", usage = null;
    const ids = new Set(), reasons = [];
    for await (const chunk of stream) {
      ids.add(chunk.id);
      usage = chunk.usage ?? usage;
      for (const choice of chunk.choices) {
        said += choice.delta.content ?? "";
        if (choice.finish_reason) reasons.push(choice.finish_reason);
      }
    }
    return [said, ids.size, usage.completion_tokens > 0, reasons];
  },
  async chat_tools() {
    const client = openAI("tools"), messages = user("What is the weather in Paris?");
    const first = await client.chat.completions.create({ model: "m", messages, tools: chatTools });
    const message = first.choices[0].message, call = message.tool_calls[0];
    messages.push(message, { role: "tool", tool_call_id: call.id, content: "sunny" });
    const second = await client.chat.completions.create({ model: "m", messages, tools: chatTools });
    return [message.content, call.function.name, JSON.parse(call.function.arguments), first.choices[0].finish_reason, second.choices[0].message.content];
  },
  async chat_parallel_stream() {
    const client = openAI("parallel"), messages = user("Compare Paris and Rome");
    const message = await client.chat.completions.stream({ model: "m", messages, tools: chatTools }).finalMessage();
    messages.push(message, ...message.tool_calls.map((call) => ({ role: "tool", tool_call_id: call.id, content: "warm" })).reverse());
    const second = await client.chat.completions.create({ model: "m", messages, tools: chatTools });
    return [message.tool_calls.map((call) => JSON.parse(call.function.arguments)), second.choices[0].message.content];
  },
  async chat_thinking_is_not_sent() {
    const answer = await openAI("thinking").chat.completions.create({ model: "m", messages: user("What is 6 times 7?") });
    return answer.choices[0].message.content;
  },
  async chat_limit_and_retry() {
    const ask = (client) => client.chat.completions.create({ model: "m", messages: user("Try it") });
    const error = await ask(openAI("limit", { maxRetries: 0 })).catch((error) => error);
    const began = performance.now();
    const answer = await ask(openAI("limit"));
    return [error.status, error.headers.get("retry-after"), error.headers.get("x-limit"), error.error.message, answer.choices[0].message.content, performance.now() - began >= 1000];
  },
  async chat_structured() {
    const schema = { type: "object", properties: { name: { type: "string" }, born: { type: "integer" } }, required: ["name", "born"], additionalProperties: false };
    const answer = await openAI("structured").chat.completions.parse({
      model: "m", messages: user("Who is Ada?"),
      response_format: { type: "json_schema", json_schema: { name: "person", schema, strict: true } },
    });
    return JSON.parse(answer.choices[0].message.content);
  },
  async chat_miss() {
    const messages = [...user("Say hello"), { role: "assistant", content: text }, ...user("And now?")];
    const error = await openAI("text").chat.completions.create({ model: "m", messages }).catch((error) => error);
    return [error.status, error.message.includes("script ended")];
  },
  async responses_text() {
    const answer = await openAI("text").responses.create({ model: "m", input: "Say hello" });
    return [answer.output_text, answer.status, answer.usage.total_tokens > 0];
  },
  async responses_count() {
    const count = await openAI("text").responses.inputTokens.count({ model: "m", input: "Say hello" });
    return [count.object, count.input_tokens > 0];
  },
  async responses_stream() {
    const stream = await openAI("text").responses.create({ model: "m", input: "Say hello", stream: true });
    const events = [];
    for await (const event of stream) events.push(event);
    const said = events.filter((event) => event.type === "response.output_text.delta").map((event) => event.delta).join("");
    const dense = events.every((event, at) => event.sequence_number === at);
    const last = events.at(-1);
    return [said, dense, events[0].type, last.type, last.response.output[0].content[0].text === said];
  },
  async responses_tools() {
    const client = openAI("tools");
    const first = await client.responses.create({ model: "m", input: "What is the weather in Paris?", tools: responsesTools });
    const call = first.output.find((item) => item.type === "function_call");
    const input = [{ type: "function_call_output", call_id: call.call_id, output: "sunny" }];
    const second = await client.responses.create({ model: "m", previous_response_id: first.id, tools: responsesTools, input });
    return [call.name, JSON.parse(call.arguments), second.output_text];
  },
  async responses_parallel_stream() {
    const client = openAI("parallel"), input = user("Compare Paris and Rome");
    const first = await client.responses.stream({ model: "m", input, tools: responsesTools }).finalResponse();
    const calls = first.output.filter((item) => item.type === "function_call");
    input.push(...calls.map(({ call_id, name, arguments: given }) => ({ type: "function_call", call_id, name, arguments: given })));
    input.push(...calls.map(({ call_id }) => ({ type: "function_call_output", call_id, output: "warm" })));
    const second = await client.responses.create({ model: "m", input, tools: responsesTools });
    return [calls.map((call) => JSON.parse(call.arguments)), second.output_text];
  },
  async responses_previous() {
    const client = openAI("turns");
    const first = await client.responses.create({ model: "m", input: "My name is Ada" });
    const second = await client.responses.create({ model: "m", input: "What is my name?", previous_response_id: first.id });
    const again = await client.responses.retrieve(first.id);
    const error = await client.responses.create({ model: "m", input: "x", previous_response_id: "resp_foreign" }).catch((error) => error);
    return [first.output_text, second.output_text, again.output_text, error.code];
  },
  async responses_thinking() {
    const answer = await openAI("thinking").responses.create({ model: "m", input: "What is 6 times 7?", reasoning: { effort: "low", summary: "auto" } });
    return [answer.output.map((item) => item.type), answer.output[0].summary[0].text, answer.output_text];
  },
  async messages_text() {
    const answer = await claude("text").messages.create({ model: "m", max_tokens: 100, messages: user("Say hello") });
    return [answer.content[0].text, answer.stop_reason, answer.usage.output_tokens > 0];
  },
  async messages_stream() {
    const stream = claude("text").messages.stream({ model: "m", max_tokens: 100, messages: user("Say hello") });
    let said = "";
    stream.on("text", (delta) => { said += delta; });
    const final = await stream.finalMessage();
    return [said, final.content[0].text === said, final.stop_reason];
  },
  async messages_tools() {
    const client = claude("tools"), messages = user("What is the weather in Paris?");
    const first = await client.messages.stream({ model: "m", max_tokens: 100, messages, tools: messagesTools }).finalMessage();
    const call = first.content.find((block) => block.type === "tool_use");
    messages.push({ role: "assistant", content: first.content }, { role: "user", content: [{ type: "tool_result", tool_use_id: call.id, content: "sunny" }] });
    const second = await client.messages.create({ model: "m", max_tokens: 100, messages, tools: messagesTools });
    return [call.name, call.input, first.stop_reason, second.content[0].text];
  },
  async messages_parallel() {
    const client = claude("parallel"), messages = user("Compare Paris and Rome");
    const first = await client.messages.create({ model: "m", max_tokens: 100, messages, tools: messagesTools });
    const calls = first.content.filter((block) => block.type === "tool_use");
    const results = calls.map((call) => ({ type: "tool_result", tool_use_id: call.id, content: "warm" })).reverse();
    messages.push({ role: "assistant", content: first.content }, { role: "user", content: results });
    const second = await client.messages.create({ model: "m", max_tokens: 100, messages, tools: messagesTools });
    return [calls.map((call) => call.input), second.content[0].text];
  },
  async messages_thinking() {
    const final = await claude("thinking").messages.stream({
      model: "m", max_tokens: 2000, messages: user("What is 6 times 7?"), thinking: { type: "enabled", budget_tokens: 1024 },
    }).finalMessage();
    return [final.content.map((block) => block.type), final.content[0].thinking, final.content[0].signature.length > 0, final.content[1].text];
  },
  async messages_limit_and_retry() {
    const ask = (client) => client.messages.create({ model: "m", max_tokens: 100, messages: user("Try it") });
    const error = await ask(claude("limit", { maxRetries: 0 })).catch((error) => error);
    const answer = await ask(claude("limit"));
    return [error.status, error.headers.get("retry-after"), error.error.error.type, answer.content[0].text];
  },
  async messages_overload() {
    const error = await claude("overload", { maxRetries: 1 }).messages.create({ model: "m", max_tokens: 100, messages: user("Keep failing") }).catch((error) => error);
    return [error.status, error.error.error.type];
  },
  async messages_count_and_models() {
    const client = claude("text");
    const count = await client.messages.countTokens({ model: "m", messages: user("Say hello") });
    const models = [];
    for await (const model of client.models.list()) models.push(model.id);
    return [count.input_tokens > 0, models.includes("scripted-1"), (await openAI("text").models.retrieve("scripted-1")).id];
  },
  async disconnect_mid_stream() {
    const stream = await openAI("slow").chat.completions.create({ model: "m", messages: user("Tell me a story"), stream: true });
    for await (const chunk of stream) if (chunk.choices[0]?.delta.content) break;
    const answer = await openAI("text").chat.completions.create({ model: "m", messages: user("Say hello") });
    return answer.choices[0].finish_reason;
  },
};

const outcomes = {};
for (const [name, check] of Object.entries(checks)) {
  // Every outcome is printed, and judged by who started us.
  outcomes[name] = await check().catch((error) => `${error.name}: ${error.message}`);
}
console.log(JSON.stringify(outcomes));
