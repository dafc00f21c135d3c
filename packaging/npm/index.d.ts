/** The context that node:test or vitest gives to a test. */
export type TestContext =
  | { after(work: () => Promise<void>): unknown }
  | { onTestFinished(work: () => Promise<void>): unknown };

/** How a mock is started. */
export interface MockOptions {
  /** The test that the mock is for: it is stopped and judged after it, so `stop` need not be called. */
  t?: TestContext;
  /** Further options of the command, such as `--strict`. */
  options?: string[];
  /** The directory that the file is relative to; the working directory by default. */
  cwd?: string;
  /** The binary to start, instead of the one that npm installed. */
  binary?: string;
}

/** The verdict of a mock is a failure, or it could not start; the message has its findings. */
export class MockError extends Error {}

export interface Mock extends AsyncDisposable {
  /** The address, such as `http://127.0.0.1:41873`. */
  readonly url: string;
  /**
   * Stops the mock; rejects with a {@link MockError} if its verdict is a failure. A mock that nobody stops is judged when
   * the test file or the program ends, which then fails.
   */
  stop(): Promise<void>;
}

/** A mock of the APIs of OpenAI, Anthropic and Google. */
export interface Model extends Mock {
  /** The variables that the SDKs read: `OPENAI_BASE_URL`, `OPENAI_API_KEY`, … */
  readonly env: Record<string, string>;
  readonly openaiBaseUrl: string;
  readonly anthropicBaseUrl: string;
  readonly geminiBaseUrl: string;
  /** A key that the mock takes. It takes any other one too. */
  readonly apiKey: string;
}

/** A mock of an agent service with an event stream. */
export interface Service extends Mock {
  /** The root of its REST API. */
  readonly apiUrl: string;
}

/** Starts `cuecard serve llm FILE`; turns that are not played fail it. */
export function startModel(file: string, options?: MockOptions): Promise<Model>;

/** Starts `cuecard serve rest FILE`. */
export function startService(file: string, options?: MockOptions): Promise<Service>;

/** The path of the binary for this machine. */
export function findBinary(): string;
