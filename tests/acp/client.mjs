// A real client of the Agent Client Protocol by its SDK for JavaScript, which checks each line of the agent against the
// published schema: NODE_MODULES PROMPT... -- COMMAND ARGUMENT...
import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Readable, Writable } from 'node:stream';
import { pathToFileURL } from 'node:url';

const [modules, ...words] = process.argv.slice(2);
const at = words.indexOf('--');
const [prompts, [command, ...args]] = [words.slice(0, at), words.slice(at + 1)];
const peers = createRequire(`${modules}/`);
const acp = await import(pathToFileURL(peers.resolve('@agentclientprotocol/sdk')));
const { default: Ajv } = peers('ajv/dist/2020.js');

const schema = JSON.parse(readFileSync(`${modules}/@agentclientprotocol/sdk/schema/v1/schema.json`, 'utf8'));
const ajv = new Ajv({ strict: false, validateFormats: false });
ajv.addSchema(schema, 'acp');
const definition = (side, method, end) => Object.keys(schema.$defs).find((name) => {
  const one = schema.$defs[name];
  return one['x-method'] === method && one['x-side'] === side && name.endsWith(end);
});
const asked = new Map();
let checked = 0;
/** Says what is wrong with a message of the agent. */
function check(line) {
  const message = JSON.parse(line);
  const isAnswer = message.method === undefined;
  if (isAnswer && message.error) return;
  const name = isAnswer
    ? definition('agent', asked.get(message.id), 'Response')
    : definition('client', message.method, message.id === undefined ? 'Notification' : 'Request');
  const validate = name && ajv.getSchema(`acp#/$defs/${name}`);
  if (!validate) return console.log('INVALID', line);
  if (!validate(isAnswer ? message.result : message.params)) console.log('INVALID', name, ajv.errorsText(validate.errors), line);
  checked += 1;
}

const agent = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
const lines = (on) => {
  let rest = '';
  return new TransformStream({
    transform(chunk, controller) {
      const parts = (rest + Buffer.from(chunk).toString()).split('\n');
      rest = parts.pop();
      parts.filter(Boolean).forEach(on);
      controller.enqueue(chunk);
    },
  });
};
const sent = lines((line) => {
  const { id, method } = JSON.parse(line);
  if (method && id !== undefined) asked.set(id, method);
});
sent.readable.pipeTo(Writable.toWeb(agent.stdin)).catch(() => {});
const stream = acp.ndJsonStream(sent.writable, Readable.toWeb(agent.stdout).pipeThrough(lines(check)));

const { client, agent: theirs } = acp.methods;
const terminals = [];
const terminal = ({ params }) => terminals[Number(params.terminalId)];
const app = acp
  .client({ name: 'test' })
  .onNotification(client.session.update, ({ params: { update } }) => {
    console.log(update.sessionUpdate, update.status ?? '', update.content?.text ?? '');
  })
  .onRequest(client.session.requestPermission, ({ params }) => {
    const { optionId } = params.options.find((option) => option.kind === 'allow_once');
    console.log('permission', optionId);
    return { outcome: { outcome: 'selected', optionId } };
  })
  .onRequest(client.fs.readTextFile, ({ params }) => ({ content: readFileSync(params.path, 'utf8') }))
  .onRequest(client.fs.writeTextFile, ({ params }) => {
    writeFileSync(params.path, params.content);
    return {};
  })
  .onRequest(client.terminal.create, ({ params }) => {
    const program = spawn(params.command, params.args ?? [], { cwd: params.cwd ?? undefined });
    const one = { program, output: '' };
    for (const pipe of [program.stdout, program.stderr]) pipe.on('data', (data) => { one.output += data; });
    one.ended = new Promise((resolve) => program.on('close', resolve));
    terminals.push(one);
    return { terminalId: String(terminals.length - 1) };
  })
  .onRequest(client.terminal.waitForExit, async (request) => ({ exitCode: await terminal(request).ended }))
  .onRequest(client.terminal.output, (request) => ({ output: terminal(request).output, truncated: false }))
  .onRequest(client.terminal.kill, (request) => { terminal(request).program.kill(); return {}; })
  .onRequest(client.terminal.release, () => ({}));

await app.connectWith(stream, async (peer) => {
  await peer.request(theirs.initialize, {
    protocolVersion: acp.PROTOCOL_VERSION,
    clientCapabilities: { fs: { readTextFile: true, writeTextFile: true }, terminal: true },
  });
  const { sessionId } = await peer.request(theirs.session.new, { cwd: process.cwd(), mcpServers: [] });
  for (const text of prompts) {
    try {
      const answer = await peer.request(theirs.session.prompt, { sessionId, prompt: [{ type: 'text', text }] });
      console.log('stopped', answer.stopReason);
    } catch (error) {
      console.log('error', error.code, JSON.stringify(error.data));
    }
  }
});
agent.stdin.end();
await new Promise((resolve) => agent.on('exit', resolve));
console.log('checked', checked);
