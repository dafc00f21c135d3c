// The mocks of `cuecard` for tests: child processes, with their addresses and verdicts.

import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';

const require = createRequire(import.meta.url);

/** The verdict of a mock is a failure, or it could not start; the message has its findings. */
export class MockError extends Error {
  name = 'MockError';
}

/** The path of the binary for this machine, from the package that npm installed beside this one. */
export function findBinary() {
  const name = `cuecard-${process.platform}-${process.arch}`;
  try {
    return require.resolve(`${name}/bin/cuecard`);
  } catch {
    throw new Error(
      `the package \`${name}\` is not installed: there is no binary for this platform, ` +
        'or npm left out optional dependencies',
    );
  }
}

/** The mocks that nobody has stopped yet. The system closes their standard input with this process, and they end. */
const running = new Set();

/** Stops the mocks that nobody has stopped, and returns the errors of those that failed. */
async function judgeForgotten() {
  const ends = await Promise.allSettled([...running].map((mock) => mock.stop()));
  return ends.filter(({ status }) => status === 'rejected').map(({ reason }) => reason);
}

process.on('beforeExit', async () => {
  for (const { message } of await judgeForgotten()) {
    console.error(message);
    process.exitCode ||= 1;
  }
});

// After `process.exit()`, and after an error that nobody catches, there is no time left to judge.
process.on('exit', () => {
  for (const mock of running) {
    console.error(`${mock} was not judged: the program ended before \`await mock.stop()\``);
    process.exitCode ||= 1;
  }
});

// The processes of vitest end without these events, so a hook at the end of each test file takes their place.
if (process.env.VITEST_WORKER_ID) {
  const vitest = await import('vitest').catch(() => undefined);
  vitest?.afterAll(async () => {
    const errors = await judgeForgotten();
    if (errors.length > 0) throw new MockError(errors.map(({ message }) => message).join('\n\n'));
  });
}

/** How a test's context takes what is to be done after the test: node:test has `after`, vitest `onTestFinished`. */
function afterTest(t) {
  const register = t.after ?? t.onTestFinished;
  if (typeof register !== 'function') {
    throw new TypeError('`t` is the context of a test: it has `after` (node:test) or `onTestFinished` (vitest)');
  }
  return (work) => register.call(t, work);
}

/** What a mock printed for people; with `--json`, an error is also written for machines. */
function forPeople(text) {
  const lines = text.split('\n').filter((line) => !line.startsWith('{"severity":'));
  return lines.join('\n').trimEnd();
}

class Server {
  #child;
  #ended;
  #name;
  #stderr = '';
  #stopped;

  static async start(words, file, { options = [], cwd, binary = findBinary(), t, ...rest } = {}) {
    const unknown = Object.keys(rest);
    if (unknown.length > 0 || !Array.isArray(options)) {
      throw new TypeError(
        `the second argument is { options?: string[], cwd?: string, binary?: string, t?: object }, without ${unknown.join(', ') || 'a list'}`,
      );
    }
    const after = t && afterTest(t);
    const server = new this();
    await server.#begin(binary, words, file, options, cwd);
    after?.(() => server.stop());
    return server;
  }

  async #begin(binary, words, file, options, cwd) {
    this.#name = `cuecard ${words.join(' ')} ${file}`;
    this.#child = spawn(binary, [...words, file, '--json', '--stop-on-stdin-eof', ...options], {
      cwd,
      stdio: ['pipe', 'pipe', 'pipe'],
      // Ctrl-C is for the test runner, which then stops the mock.
      detached: true,
    });
    this.#child.stderr.setEncoding('utf8').on('data', (text) => (this.#stderr += text));
    this.#ended = new Promise((resolve) => {
      this.#child.on('error', (error) => resolve(error.message));
      this.#child.on('close', (code, signal) => resolve(code ?? signal));
    });
    const lines = createInterface({ input: this.#child.stdout });
    // Later lines are read, so that the mock never waits for a reader.
    const first = new Promise((resolve) => {
      lines.once('line', resolve);
      lines.once('close', () => resolve(''));
    });
    let ready;
    try {
      ready = JSON.parse(await first);
    } catch {
      ready = {};
    }
    if (ready.event !== 'ready') {
      this.#child.kill('SIGKILL');
      const end = await this.#ended;
      this.#stopped = Promise.resolve();
      throw new MockError(`${this} did not start (${end})\n\n${forPeople(this.#stderr)}`);
    }
    this.url = ready.url;
    this.env = ready.environment ?? {};
    running.add(this);
    this.#keepsNodeAlive(false);
  }

  /** Whether node waits for the end of the mock, as it does for all that it has started. */
  #keepsNodeAlive(does) {
    for (const handle of [this.#child, ...this.#child.stdio]) does ? handle.ref() : handle.unref();
  }

  toString() {
    return `\`${this.#name}\``;
  }

  stop() {
    this.#stopped ??= (async () => {
      running.delete(this);
      this.#keepsNodeAlive(true);
      this.#child.kill('SIGTERM');
      const end = await this.#ended;
      if (end !== 0) {
        throw new MockError(`${this} failed (exit ${end})\n\n${forPeople(this.#stderr)}`);
      }
    })();
    return this.#stopped;
  }

  [Symbol.asyncDispose ?? Symbol.for('Symbol.asyncDispose')]() {
    return this.stop();
  }
}

class Model extends Server {
  get openaiBaseUrl() {
    return this.env.OPENAI_BASE_URL;
  }

  get anthropicBaseUrl() {
    return this.env.ANTHROPIC_BASE_URL;
  }

  get geminiBaseUrl() {
    return this.env.GOOGLE_GEMINI_BASE_URL;
  }

  get apiKey() {
    return this.env.OPENAI_API_KEY;
  }
}

class Service extends Server {
  get apiUrl() {
    return `${this.url}/api/v1`;
  }
}

/** The settings of a mock; a list or a text in their place is a mistake. */
function settings(given = {}) {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw new TypeError('the second argument is an object, such as { options: ["--strict"] }');
  }
  return given;
}

/** Starts `cuecard serve llm FILE`; turns that are not played fail it. */
export async function startModel(file, given) {
  const { options = [], ...rest } = settings(given);
  return Model.start(['serve', 'llm'], file, { ...rest, options: ['--require-complete', ...options] });
}

/** Starts `cuecard serve rest FILE`. */
export async function startService(file, given) {
  return Service.start(['serve', 'rest'], file, settings(given));
}
