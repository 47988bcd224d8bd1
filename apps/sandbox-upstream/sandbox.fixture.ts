import { type Sandbox, type SandboxOptions, startSandbox } from './sandbox-server.js';

/** An answer. The spec that reads it knows its shape. */
// oxlint-disable-next-line typescript/no-explicit-any -- the expectations are the types here
export type Json = Record<string, any>;

/** No task in the specs works longer than a second, so only a hang takes this long. */
const POLL_LIMIT_MS = 60_000;

/** A running sandbox and the calls that the specs make to it. */
export class SandboxUnderTest {
  private constructor(
    readonly sandbox: Sandbox,
    readonly url: string,
  ) {}

  static async start(options: SandboxOptions = {}): Promise<SandboxUnderTest> {
    const quick = { imageSeconds: 0, videoSeconds: 0.2, slowSeconds: 0.4 };
    const sandbox = await startSandbox({ ...quick, ...options });
    return new SandboxUnderTest(sandbox, sandbox.url);
  }

  post(
    path: string,
    body: Json,
    headers: Record<string, string> = {},
    signal?: AbortSignal,
  ): Promise<Response> {
    return fetch(this.url + path, {
      method: 'POST',
      headers: { authorization: 'Bearer sandbox-key', 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
      signal: signal ?? null,
    });
  }

  get(path: string): Promise<Response> {
    return fetch(this.url + path, { headers: { authorization: 'Bearer sandbox-key' } });
  }

  async read(path: string): Promise<Json> {
    return (await (await this.get(path)).json()) as Json;
  }

  async create(path: string, prompt: string, headers: Record<string, string> = {}): Promise<string> {
    const response = await this.post(path, { model: 'video-model', prompt, duration: 2 }, headers);
    const body = (await response.json()) as Json;
    return (body['id'] ?? body['request_id']) as string;
  }

  /** Polls until a task answers one of `words`, and returns that answer with the words seen on the way. */
  async pollUntil(id: string, words: string[]): Promise<{ last: Json; seen: (string | number)[] }> {
    const seen: (string | number)[] = [];
    for (const before = performance.now(); performance.now() - before < POLL_LIMIT_MS;) {
      const response = await this.get(`/v1/videos/${id}`);
      const last = (await response.json()) as Json;
      const word = response.status >= 500 ? response.status : (last['status'] as string);
      if (seen.at(-1) !== word || response.status >= 500) seen.push(word);
      if (words.includes(String(word))) return { last, seen };
    }
    throw new Error(`None of ${words.join(', ')} came; seen: ${seen.join(', ')}`);
  }

  /** Asks until the answer is as wanted. */
  async readUntil(path: string, isWanted: (answer: Json) => boolean): Promise<Json> {
    let last: Json = {};
    for (const before = performance.now(); performance.now() - before < POLL_LIMIT_MS;) {
      last = await this.read(path);
      if (isWanted(last)) return last;
    }
    throw new Error(`The wanted answer never came; the last one: ${JSON.stringify(last)}`);
  }

  close(): Promise<void> {
    return this.sandbox.close();
  }
}
