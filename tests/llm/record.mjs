// Talks to models through the SDKs of OpenAI and Anthropic, and prints all that it saw as JSON.
//
// Usage: record.mjs URL FOLDER_OF_NODE_MODULES. What it sees must be the same from a recording proxy, and from the
// recording at play. Each conversation begins in its own way, so that a player can tell them apart.

import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [url, folder] = process.argv.slice(2);
const require = createRequire(pathToFileURL(`${folder}/`));
const { default: OpenAI } = require("openai");
const { default: Anthropic } = require("@anthropic-ai/sdk");

const weather = { type: "object", properties: { city: { type: "string" } }, required: ["city"] };
const openAI = new OpenAI({ baseURL: `${url}/v1`, apiKey: "a-key-of-twelve" });
const claude = new Anthropic({ baseURL: url, apiKey: "a-key-of-twelve" });

const conversations = {
  async chat_rounds() {
    const messages = [{ role: "user", content: "By chat: Compare Paris and Rome" }];
    const outcomes = [];
    for (let round = 0; round < 2; round += 1) {
      const answer = await openAI.chat.completions.stream({
        model: "m", messages, tools: [{ type: "function", function: { name: "get_weather", parameters: weather } }],
      }).finalChatCompletion();
      const { message, finish_reason: reason } = answer.choices[0];
      const calls = message.tool_calls ?? [];
      outcomes.push([message.content, calls.map((call) => JSON.parse(call.function.arguments)), reason]);
      messages.push({ role: "assistant", content: message.content, tool_calls: calls.map(({ id, function: called }) =>
        ({ id, type: "function", function: { name: called.name, arguments: called.arguments } })) });
      messages.push(...calls.map((call) => ({ role: "tool", tool_call_id: call.id, content: "warm" })));
    }
    return outcomes;
  },
  async chat_limit_and_own_retry() {
    const answer = await openAI.chat.completions.create({
      model: "m", messages: [{ role: "user", content: "By chat: Try it" }],
    });
    return [answer.choices[0].message.content, answer.usage.total_tokens];
  },
  async responses_previous() {
    const first = await openAI.responses.create({ model: "m", input: "By responses: My name is Ada" });
    const second = await openAI.responses.create({
      model: "m", input: "What is my name?", previous_response_id: first.id,
    });
    return [first.output_text, second.output_text, second.status];
  },
  async messages_tools() {
    const tools = [{ name: "get_weather", input_schema: weather }];
    const messages = [{ role: "user", content: "By messages: What is the weather in Paris?" }];
    const first = await claude.messages.stream({ model: "m", max_tokens: 100, messages, tools }).finalMessage();
    const call = first.content.find((block) => block.type === "tool_use");
    messages.push({ role: "assistant", content: first.content });
    messages.push({ role: "user", content: [{ type: "tool_result", tool_use_id: call.id, content: "sunny" }] });
    const second = await claude.messages.create({ model: "m", max_tokens: 100, messages, tools });
    return [first.content[0].text, call.name, call.input, first.stop_reason, second.content[0].text];
  },
};

const seen = {};
for (const [name, converse] of Object.entries(conversations)) {
  try {
    seen[name] = await converse();
  } catch (error) {
    seen[name] = `${error.name}: ${error.message}`;
  }
}
console.log(JSON.stringify(seen));
