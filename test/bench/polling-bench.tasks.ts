import { setTimeout as pause } from 'node:timers/promises';
import { Pool } from 'undici';
import type { BenchRelay } from './gateway-bench.relay.js';

/** When a task is to finish upstream, in milliseconds since 1970. */
type EndMs = number;

/** Concurrent creations. On two cores, more would only wait for each other. */
const CREATES_AT_ONCE = 32;
const MODEL = 'vendora-imagine-video';

/**
 * Creates a charged video for each end, through the relay. The prompt says how long the sandbox works, so a task ends
 * on time, give or take how long creating it took.
 * @throws Error if one is not accepted, or if the first would end before the last is created
 */
export async function createVideos(
  relay: BenchRelay,
  apiKeys: readonly string[],
  ends: readonly EndMs[],
): Promise<void> {
  const pool = new Pool(relay.baseUrl, { connections: CREATES_AT_ONCE, pipelining: 1 });
  let next = 0;
  const creator = async (): Promise<void> => {
    for (let index = next++; index < ends.length; index = next++) {
      const seconds = ((ends[index] ?? 0) - Date.now()) / 1000;
      if (seconds < 1) throw new Error('the relay creates tasks too slowly for this bench');
      await createVideo(pool, apiKeys[index % apiKeys.length] ?? '', seconds);
    }
  };
  try {
    await Promise.all(Array.from({ length: CREATES_AT_ONCE }, creator));
  } finally {
    await pool.destroy();
  }
}

async function createVideo(pool: Pool, apiKey: string, seconds: number): Promise<void> {
  const { statusCode, body } = await pool.request({
    method: 'POST',
    path: '/v1/videos',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: MODEL, prompt: `a boat [[work:${seconds.toFixed(3)}]]`, seconds: '1' }),
  });
  const text = await body.text();
  if (statusCode !== 200) throw new Error(`a create was answered with ${statusCode}: ${text.slice(0, 300)}`);
}

interface SandboxTask {
  id: string;
  endsAt: string;
}

/** What the sandbox reports about itself. */
export class SandboxView {
  constructor(private readonly url: string) {}

  /** How many polls it has answered so far. */
  async polls(): Promise<number> {
    return (await this.read<{ polls: number }>('stats')).polls;
  }

  /** When each of its tasks ends, by ID. */
  async ends(): Promise<Map<string, EndMs>> {
    const { tasks } = await this.read<{ tasks: SandboxTask[] }>('tasks?limit=100000');
    return new Map(tasks.map(({ id, endsAt }) => [id, Date.parse(endsAt)]));
  }

  private async read<T>(what: string): Promise<T> {
    return (await (await fetch(`${this.url}/_sandbox/${what}`)).json()) as T;
  }
}

const ASK_AGAIN_MS = 500;

/** Waits until all tasks that end before a time are completed in the database. @throws Error after `limitMs` */
export async function untilCompleted(
  relay: BenchRelay,
  ends: ReadonlyMap<string, EndMs>,
  { beforeMs, limitMs }: { beforeMs: EndMs; limitMs: number },
): Promise<Map<string, EndMs>> {
  const awaited = [...ends].filter(([, endMs]) => endMs < beforeMs).map(([id]) => id);
  const deadlineMs = Date.now() + limitMs;
  for (;;) {
    const completed = await relay.completedTasks();
    const missing = awaited.filter((id) => !completed.has(id));
    if (missing.length === 0) return completed;
    if (Date.now() > deadlineMs)
      throw new Error(`${missing.length} of ${awaited.length} tasks did not complete`);
    await pause(ASK_AGAIN_MS);
  }
}

/** How long after its end upstream each task was completed in the database, in milliseconds. */
export function noticed(
  completed: ReadonlyMap<string, EndMs>,
  ends: ReadonlyMap<string, EndMs>,
  { fromMs, toMs }: { fromMs: EndMs; toMs: EndMs },
): number[] {
  return [...ends]
    .filter(([, endMs]) => endMs >= fromMs && endMs < toMs)
    .map(([id, endMs]) => (completed.get(id) ?? Infinity) - endMs);
}
