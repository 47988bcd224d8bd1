import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { Agent, request } from 'undici';

/** Numbers between 0 and 1, determined by a seed. */
export function dice(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** What the honest customers experienced. */
export interface Met {
  latenciesMs: number[];
  statuses: Record<string, number>;
}

interface Call {
  method: 'GET' | 'POST';
  path: string;
  body?: string;
}

const image = (prompt: string): Call => ({
  method: 'POST',
  path: '/v1/images/generations',
  body: JSON.stringify({ model: 'vendora-imagine-image', prompt, response_format: 'b64_json' }),
});
const chat = (content: unknown): Call => ({
  method: 'POST',
  path: '/v1/chat/completions',
  body: JSON.stringify({ model: 'vendora-chat', messages: [{ role: 'user', content }] }),
});

const HONEST: readonly (() => Call)[] = [
  () => image('a lighthouse [[work:0.1]]'),
  () => chat('hello'),
  () => ({ method: 'GET', path: '/v1/models' }),
];
const DEPTH = 20_000;
/** What strangers send: floods, failures, bodies that are expensive to read, and countless videos. */
const HOSTILE: readonly (() => Call)[] = [
  () => image('a flood [[work:1]]'),
  () => image('[[fault:reject-500]]'),
  () => image('[[fault:reject-503]]'),
  () => ({ method: 'POST', path: '/v1/chat/completions', body: '['.repeat(DEPTH) + ']'.repeat(DEPTH) }),
  () => chat('word '.repeat(20_000)),
  () => ({
    method: 'POST',
    path: '/v1/videos',
    body: JSON.stringify({ model: 'vendora-imagine-video', prompt: 'a boat [[work:2]]', seconds: '4' }),
  }),
  () => ({ method: 'GET', path: '/v1/videos' }),
];
const ANSWER_LIMIT_MS = 60_000;
/** Strangers ignore Retry-After, but this program has measuring to do. */
const HOSTILE_PAUSE_MS = 40;
const ANNOUNCED_BYTES = 50_000_000;

export class Load {
  private readonly agent = new Agent({ connections: 512, pipelining: 1, headersTimeout: ANSWER_LIMIT_MS });

  constructor(
    private readonly baseUrl: string,
    private readonly random: () => number,
  ) {}

  /** Makes calls at a steady rate, whatever becomes of them. */
  async honest(apiKeys: readonly string[], perSecond: number, seconds: number): Promise<Met> {
    const met: Met = { latenciesMs: [], statuses: {} };
    const open: Promise<void>[] = [];
    const beganMs = performance.now();
    for (let sent = 0; sent < perSecond * seconds; sent += 1) {
      const dueMs = beganMs + (sent / perSecond) * 1000;
      await pause(Math.max(0, dueMs - performance.now()));
      const call = HONEST[sent % HONEST.length]!();
      open.push(this.measure(call, apiKeys[sent % apiKeys.length]!, met));
    }
    await Promise.all(open);
    return met;
  }

  /** Each stranger keeps sending random calls, this many at once. */
  async hostile(apiKeys: readonly string[], atOnce: number, until: AbortSignal): Promise<void> {
    const sockets = apiKeys.map((key) => this.idleSocket(key));
    const strangers = apiKeys.flatMap((key) => Array.from({ length: atOnce }, () => this.pester(key, until)));
    await Promise.all(strangers);
    for (const socket of sockets) socket.destroy();
  }

  async close(): Promise<void> {
    await this.agent.destroy();
  }

  private async measure(call: Call, apiKey: string, met: Met): Promise<void> {
    const beganMs = performance.now();
    const status = await this.send(call, apiKey).catch(() => 0);
    met.latenciesMs.push(performance.now() - beganMs);
    met.statuses[status] = (met.statuses[status] ?? 0) + 1;
  }

  private async pester(apiKey: string, until: AbortSignal): Promise<void> {
    while (!until.aborted) {
      const call = HOSTILE[Math.floor(this.random() * HOSTILE.length)]!();
      const isGuess = this.random() < 0.1;
      const key = isGuess ? `sk-tg-${'x'.repeat(40)}${String(this.random()).slice(2, 5)}` : apiKey;
      await this.send(call, key, until).catch(() => 0);
      await pause(HOSTILE_PAUSE_MS);
    }
  }

  private async send({ method, path, body }: Call, apiKey: string, signal?: AbortSignal): Promise<number> {
    const answer = await request(this.baseUrl + path, {
      dispatcher: this.agent,
      method,
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body: body ?? null,
      signal: signal ?? null,
    });
    await answer.body.dump();
    return answer.statusCode;
  }

  /** Announces a large body and sends nothing. */
  private idleSocket(apiKey: string) {
    const { hostname, port } = new URL(this.baseUrl);
    const socket = connect(Number(port), hostname);
    socket.on('error', () => undefined);
    socket.write(
      `POST /v1/images/edits HTTP/1.1\r\nHost: ${hostname}:${port}\r\nAuthorization: Bearer ${apiKey}\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${ANNOUNCED_BYTES}\r\n\r\n{`,
    );
    return socket;
  }
}
