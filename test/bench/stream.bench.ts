import type { ChildProcess } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { type Children, messageOf, withChildren } from './children.js';
import { cpuSecondsOf } from './cpu.js';
import { BenchRelay, type Books, type Mode } from './gateway-bench.relay.js';
import { memoryOf, type ProcessGroup } from './memory.js';
import { printTable } from './report.js';
import type { StreamOrder, StreamResult } from './stream-bench.load.js';

/**
 * Charged chat streams through the relay to an upstream that answers at once: what the relay adds to the time to the
 * first byte, what each event costs, and what happens to its memory while many streams are open. Stub, client and relay
 * are separate processes on one machine. At the end, the ledger has to agree with the counted streams.
 */
export interface StreamBenchOptions {
  mode: Mode;
  /** Streams per measurement of the first byte. */
  samples: number;
  /** Events in each long stream. */
  events: number;
  /** Streams open at once while memory is watched, and for how long. */
  open: number;
  seconds: number;
  json: boolean;
}

type Percentiles = StreamResult['firstByte'];

interface Measured {
  firstByte: { direct: Percentiles; relay: Percentiles; added: Percentiles };
  events: {
    perSecond: { direct: number; relay: number };
    /** The relay's processor time per event, in microseconds; null if the system does not report it. */
    cpuMicros: number | null;
  };
  memory: { before: number; samples: { second: number; megabytes: number }[]; growthMegabytes: number };
}

const PATH = '/v1/chat/completions';
const ACCOUNTS = 16;
/** Direct and relayed streams are measured in turns, so that a busy moment of the machine affects both. */
const ROUNDS = 4;
const WARM_UP_STREAMS = 400;
const LONG_STREAMS = 8;
/** Between two events of each open stream. */
const GAP_MS = 250;
const SAMPLE_MS = 2_000;
/** After this many samples, all streams are open, and memory includes what opening them took. */
const SETTLED_SAMPLE = 2;

/** Runs the benchmark and prints the results. Sets the exit code if the ledger does not agree with the streams. */
export function benchStreams(options: StreamBenchOptions): Promise<void> {
  return withChildren((children) => bench(options, children));
}

async function bench(options: StreamBenchOptions, children: Children): Promise<void> {
  const stub = children.fork(new URL('./stream-bench.stub.js', import.meta.url));
  const { port } = await messageOf<{ port: number }>(stub);
  const stubUrl = `http://127.0.0.1:${port}`;
  say('starting');
  const relay = await BenchRelay.start(options.mode, stubUrl, children);
  try {
    const apiKeys = await relay.openAccounts(ACCOUNTS);
    const client = new Client(children.fork(new URL('./stream-bench.load.js', import.meta.url)), {
      direct: stubUrl + PATH,
      relay: relay.baseUrl + PATH,
      apiKeys,
    });
    say('warming up');
    await client.run('relay', { events: 20, gapMs: 0, streams: WARM_UP_STREAMS, concurrency: 8 });
    const measured = {
      firstByte: await measureFirstByte(client, options),
      events: await measureEvents(client, options, relay.processes),
      memory: await watchMemory(client, options, relay.processes),
    };
    say('checking the ledger');
    const books = await relay.books();
    const agrees = books.charges['settled'] === client.billed && (books.charges['held'] ?? 0) === 0;
    report(measured, { options, books, agrees, streams: client.billed });
    if (!books.ok || !agrees) process.exitCode = 1;
  } finally {
    await relay.stop();
  }
}

type Target = 'direct' | 'relay';

interface Streams {
  events: number;
  gapMs: number;
  streams: number;
  concurrency: number;
}

/** The client's process. It takes one order at a time, and counts the streams that the ledger must contain. */
class Client {
  billed = 0;

  constructor(
    private readonly child: ChildProcess,
    private readonly at: Record<Target, string> & { apiKeys: string[] },
  ) {}

  /** @throws Error unless every stream was complete */
  async run(target: Target, { events, gapMs, streams, concurrency }: Streams): Promise<StreamResult> {
    const messages = [{ role: 'user', content: `${events} ${gapMs}` }];
    const body = JSON.stringify({ model: 'vendora-chat', stream: true, messages });
    const order: StreamOrder = { url: this.at[target], apiKeys: this.at.apiKeys, body, streams, concurrency };
    const answer = messageOf<StreamResult>(this.child);
    this.child.send(order);
    const result = await answer;
    if (target === 'relay') this.billed += result.ok;
    if (result.ok !== streams)
      throw new Error(`${streams - result.ok} streams failed: ${result.firstFailure}`);
    return result;
  }
}

/** One stream after the other, so that no queue is measured. */
async function measureFirstByte(
  client: Client,
  { samples }: StreamBenchOptions,
): Promise<Measured['firstByte']> {
  say('measuring the first byte');
  const rounds: Record<Target, Percentiles[]> = { direct: [], relay: [] };
  const streams = Math.ceil(samples / ROUNDS);
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const target of ['direct', 'relay'] as const) {
      const { firstByte } = await client.run(target, { events: 5, gapMs: 0, streams, concurrency: 1 });
      rounds[target].push(firstByte);
    }
  }
  const direct = meanOf(rounds.direct);
  const relay = meanOf(rounds.relay);
  const added = {
    p50Ms: relay.p50Ms - direct.p50Ms,
    p95Ms: relay.p95Ms - direct.p95Ms,
    p99Ms: relay.p99Ms - direct.p99Ms,
  };
  return { direct, relay, added };
}

function meanOf(rounds: Percentiles[]): Percentiles {
  const mean = (name: keyof Percentiles) =>
    rounds.reduce((sum, round) => sum + round[name], 0) / rounds.length;
  return { p50Ms: mean('p50Ms'), p95Ms: mean('p95Ms'), p99Ms: mean('p99Ms') };
}

/** Long streams at full speed: how many events per second, and the relay's processor time for them. */
async function measureEvents(
  client: Client,
  { events }: StreamBenchOptions,
  processes: readonly ProcessGroup[],
): Promise<Measured['events']> {
  say('measuring events');
  const order = { events, gapMs: 0, streams: LONG_STREAMS, concurrency: 2 };
  const direct = await client.run('direct', order);
  await client.run('relay', { ...order, streams: 2 });
  const before = cpuSecondsOf(processes);
  const relay = await client.run('relay', order);
  const after = cpuSecondsOf(processes);
  const total = events * LONG_STREAMS;
  return {
    perSecond: { direct: total / direct.seconds, relay: total / relay.seconds },
    cpuMicros: before === null || after === null ? null : ((after - before) * 1e6) / total,
  };
}

async function watchMemory(
  client: Client,
  { open, seconds }: StreamBenchOptions,
  processes: readonly ProcessGroup[],
): Promise<Measured['memory']> {
  say(`watching memory with ${open} streams open`);
  const before = megabytesOf(processes);
  const events = Math.ceil((seconds * 1000) / GAP_MS);
  const watching = new AbortController();
  const streaming = client
    .run('relay', { events, gapMs: GAP_MS, streams: open, concurrency: open })
    .finally(() => watching.abort());
  const samples: { second: number; megabytes: number }[] = [];
  const startedMs = performance.now();
  while (!watching.signal.aborted) {
    await pause(SAMPLE_MS, undefined, { signal: watching.signal }).catch(() => undefined);
    if (watching.signal.aborted) break;
    const second = Math.round((performance.now() - startedMs) / 1000);
    samples.push({ second, megabytes: megabytesOf(processes) });
  }
  await streaming;
  const settled = samples[Math.min(SETTLED_SAMPLE, samples.length - 1)]?.megabytes ?? 0;
  return { before, samples, growthMegabytes: (samples.at(-1)?.megabytes ?? 0) - settled };
}

/** The relay's own memory: its first group is the process that the streams pass through. */
function megabytesOf(processes: readonly ProcessGroup[]): number {
  return memoryOf(processes.slice(0, 1))[0]?.megabytes ?? 0;
}

function say(what: string): void {
  process.stderr.write(`streams: ${what}\n`);
}

interface Findings {
  options: StreamBenchOptions;
  books: Books;
  agrees: boolean;
  streams: number;
}

function report(measured: Measured, { options, books, agrees, streams }: Findings): void {
  if (options.json) {
    const ledger = { ...books, streams, agrees };
    process.stdout.write(
      `${JSON.stringify({ bench: 'streams', mode: options.mode, ...measured, ledger })}\n`,
    );
    return;
  }
  const { firstByte, events, memory } = measured;
  printTable(
    ['time to the first byte', 'p50 ms', 'p95 ms', 'p99 ms'],
    (['direct', 'relay', 'added'] as const).map((what) => {
      const { p50Ms, p95Ms, p99Ms } = firstByte[what];
      return [NAMES[what], ...[p50Ms, p95Ms, p99Ms].map((value) => value.toFixed(2))];
    }),
  );
  printTable(
    ['events at full speed', 'per second', 'processor time of the relay for each, µs'],
    [
      [NAMES.direct, Math.round(events.perSecond.direct).toString(), '-'],
      [NAMES.relay, Math.round(events.perSecond.relay).toString(), events.cpuMicros?.toFixed(1) ?? '?'],
    ],
  );
  printTable(
    [`memory, ${options.open} streams open`, 'MB'],
    [
      ['before', String(memory.before)],
      ...memory.samples.map(({ second, megabytes }) => [`after ${second} s`, String(megabytes)]),
      ['growth while open', String(memory.growthMegabytes)],
    ],
  );
  const verdict = books.ok && agrees ? 'ledger check clean' : 'THE LEDGER DOES NOT AGREE';
  process.stdout.write(`${verdict}: ${streams} streams, ${JSON.stringify(books.charges)}\n`);
}

const NAMES = { direct: 'stub alone', relay: 'through the relay', added: 'added by the relay' };
