import type { ChildProcess } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { type Children, messageOf, withChildren } from './children.js';
import { cpuSecondsOf } from './cpu.js';
import { BenchRelay, type Books, type Mode } from './gateway-bench.relay.js';
import { memoryOf, type MemoryUse, pidsOf, type ProcessGroup } from './memory.js';
import { createVideos, noticed, SandboxView, untilCompleted } from './polling-bench.tasks.js';
import type { WireCounts, WireOrder } from './polling-bench.wire.js';
import { percentile, printTable } from './report.js';

/**
 * Thousands of running videos: how long after its end upstream each is completed in the database with its file copied,
 * how many connections the polls take, and what following that many tasks costs. The videos are created and charged
 * through the relay, and the sandbox works on each for as long as its prompt says. First, some of them end at random
 * times while the others keep running. Then all the others end. Finally, the ledger has to agree.
 */
export interface PollingBenchOptions {
  mode: Mode;
  /** Tasks that run through the whole first measurement. */
  running: number;
  /** Tasks that end at random times during it. */
  finishing: number;
  /** The length of each of the two measurements. */
  seconds: number;
  /** What the connection to the upstream adds to a round trip, in milliseconds. */
  latency: number;
  json: boolean;
}

interface Notice {
  tasks: number;
  p50Ms: number;
  p95Ms: number;
  p99Ms: number;
  maxMs: number;
}

interface Load {
  pollsPerSecond: number;
  connections: { inUse: { mean: number; most: number }; mostOpen: number };
  /** Memory at the end and before. Processor time as a fraction of one core; null if the system does not report it. */
  processes: (MemoryUse & { megabytesBefore: number | undefined; cores: number | null })[];
}

interface Measured {
  whileRunning: Notice;
  whileEmptying: Notice;
  load: Load;
}

const ACCOUNTS = 16;
/** Slow enough for a busy machine. The tasks just run for the rest of the time. */
const CREATES_PER_SECOND = 100;
/** By then, the pauses between polls have grown to their limit. */
const SETTLE_MS = 30_000;
const SAMPLE_MS = 2_000;
/** Between the two measurements, so that the first is complete. */
const BREAK_MS = 15_000;
const COMPLETE_LIMIT_MS = 120_000;

/** Runs the benchmark and prints the results. Sets the exit code if the ledger does not agree with the tasks. */
export function benchPolling(options: PollingBenchOptions): Promise<void> {
  return withChildren((children) => bench(options, children));
}

async function bench(options: PollingBenchOptions, children: Children): Promise<void> {
  say('starting');
  const sandbox = await startSandbox(children);
  const wire = children.fork(new URL('./polling-bench.wire.js', import.meta.url));
  const order: WireOrder = { port: sandbox.port, latencyMs: options.latency };
  wire.send(order);
  const { port } = await messageOf<{ port: number }>(wire);
  const relay = await BenchRelay.start(options.mode, `http://127.0.0.1:${port}`, children);
  try {
    const scene = { relay, wire, sandbox: new SandboxView(sandbox.url), options };
    const measured = await measure(scene);
    say('checking the ledger');
    const books = await relay.books();
    const tasks = options.running + options.finishing;
    const agrees = books.charges['settled'] === tasks && (books.charges['held'] ?? 0) === 0;
    report(measured, { options, books, agrees });
    if (!books.ok || !agrees) process.exitCode = 1;
  } finally {
    await relay.stop();
  }
}

async function startSandbox(children: Children): Promise<{ url: string; port: number }> {
  const env = { ...process.env, SANDBOX_PORT: '0', SANDBOX_API_KEY: 'bench' };
  const { ready } = await children.startUntilReady<{ url: string; port: number }>(
    ['dist/apps/sandbox-upstream/main.js'],
    { env, limitMs: 30_000 },
  );
  return ready;
}

interface Scene {
  relay: BenchRelay;
  wire: ChildProcess;
  sandbox: SandboxView;
  options: PollingBenchOptions;
}

async function measure(scene: Scene): Promise<Measured> {
  const { relay, sandbox, options } = scene;
  const { running, finishing } = options;
  const lengthMs = options.seconds * 1000;
  const apiKeys = await relay.openAccounts(ACCOUNTS);
  say(`creating ${running + finishing} tasks`);
  const firstMs = Date.now() + ((running + finishing) / CREATES_PER_SECOND) * 1000 + SETTLE_MS;
  const secondMs = firstMs + lengthMs + BREAK_MS;
  const moments = [
    ...randomMoments(finishing, firstMs, lengthMs),
    ...randomMoments(running, secondMs, lengthMs),
  ];
  await createVideos(relay, apiKeys, shuffled(moments));
  say(`waiting until the pauses between polls have grown`);
  await pause(Math.max(0, firstMs - Date.now()));
  const ends = await sandbox.ends();
  say(`${finishing} tasks end within ${options.seconds} s while ${running} stay running`);
  const load = await watchLoad(scene, firstMs + lengthMs);
  await untilCompleted(relay, ends, { beforeMs: secondMs, limitMs: COMPLETE_LIMIT_MS });
  say(`the others end within ${options.seconds} s`);
  await pause(Math.max(0, secondMs + lengthMs - Date.now()));
  const completed = await untilCompleted(relay, ends, { beforeMs: Infinity, limitMs: COMPLETE_LIMIT_MS });
  return {
    whileRunning: noticeOf(noticed(completed, ends, { fromMs: 0, toMs: secondMs })),
    whileEmptying: noticeOf(noticed(completed, ends, { fromMs: secondMs, toMs: Infinity })),
    load,
  };
}

function randomMoments(count: number, fromMs: number, lengthMs: number): number[] {
  return Array.from({ length: count }, () => fromMs + Math.random() * lengthMs);
}

function shuffled(values: number[]): number[] {
  return values
    .map((value) => ({ value, place: Math.random() }))
    .sort((one, other) => one.place - other.place)
    .map(({ value }) => value);
}

/** What polling takes until this time, including for tasks that end meanwhile. */
async function watchLoad({ relay, wire, sandbox }: Scene, untilMs: number): Promise<Load> {
  const count = async (): Promise<WireCounts> => {
    const answer = messageOf<WireCounts>(wire);
    wire.send('count');
    return answer;
  };
  await count();
  const startedMs = performance.now();
  const polls = await sandbox.polls();
  const cpu = relay.processes.map(secondsOf);
  const before = relay.processes.map((group) => memoryOf([group])[0]?.megabytes);
  const samples: WireCounts[] = [];
  while (Date.now() < untilMs) {
    await pause(SAMPLE_MS);
    samples.push(await count());
  }
  const seconds = (performance.now() - startedMs) / 1000;
  const processes = relay.processes.flatMap((group, index) => {
    const [from, to] = [cpu[index], secondsOf(group)];
    const cores = from == null || to == null ? null : (to - from) / seconds;
    return memoryOf([group]).map((use) => ({ ...use, megabytesBefore: before[index], cores }));
  });
  const pollsPerSecond = ((await sandbox.polls()) - polls) / seconds;
  return { pollsPerSecond, connections: connectionsOf(samples), processes };
}

/** Connections that carried anything within a sample's time. */
function connectionsOf(samples: readonly WireCounts[]): Load['connections'] {
  const inUse = samples.map((sample) => sample.inUse);
  const mean = inUse.reduce((sum, count) => sum + count, 0) / inUse.length;
  const mostOpen = Math.max(...samples.map(({ open }) => open));
  return { inUse: { mean, most: Math.max(...inUse) }, mostOpen };
}

/** Processor time of a group so far, including its descendants. */
function secondsOf(group: ProcessGroup): number | null {
  return cpuSecondsOf([{ name: group.name, pids: pidsOf(group), withChildren: false }]);
}

function noticeOf(times: number[]): Notice {
  return {
    tasks: times.length,
    p50Ms: percentile(times, 0.5),
    p95Ms: percentile(times, 0.95),
    p99Ms: percentile(times, 0.99),
    maxMs: percentile(times, 1),
  };
}

function say(what: string): void {
  process.stderr.write(`polling: ${what}\n`);
}

interface Findings {
  options: PollingBenchOptions;
  books: Books;
  agrees: boolean;
}

function report(measured: Measured, { options, books, agrees }: Findings): void {
  if (options.json) {
    const { mode, running, latency } = options;
    const ledger = { ...books, agrees };
    process.stdout.write(
      `${JSON.stringify({ bench: 'polling', mode, running, latencyMs: latency, ...measured, ledger })}\n`,
    );
    return;
  }
  const { whileRunning, whileEmptying, load } = measured;
  printTable(
    ['from the end upstream to the end here', 'tasks', 'p50 s', 'p95 s', 'p99 s', 'max s'],
    [
      [`while ${options.running} stay running`, ...inSeconds(whileRunning)],
      ['while these end too', ...inSeconds(whileEmptying)],
    ],
  );
  printTable(
    [`${options.running} tasks running, ${options.latency} ms away`, ''],
    [
      ['polls per second', Math.round(load.pollsPerSecond).toString()],
      [
        `connections used within ${SAMPLE_MS / 1000} s, mean`,
        Math.round(load.connections.inUse.mean).toString(),
      ],
      [`connections used within ${SAMPLE_MS / 1000} s, most`, String(load.connections.inUse.most)],
      ['connections open, most', String(load.connections.mostOpen)],
    ],
  );
  printTable(
    ['processes meanwhile', 'count', 'MB before', 'MB after', 'cores in use'],
    load.processes.map(({ process: name, count, megabytes, megabytesBefore, cores }) => [
      name,
      String(count),
      String(megabytesBefore ?? '-'),
      String(megabytes),
      cores?.toFixed(2) ?? '-',
    ]),
  );
  const verdict = books.ok && agrees ? 'ledger check clean' : 'THE LEDGER DOES NOT AGREE';
  process.stdout.write(`${verdict}: ${JSON.stringify(books.charges)}\n`);
}

function inSeconds({ tasks, p50Ms, p95Ms, p99Ms, maxMs }: Notice): string[] {
  return [String(tasks), ...[p50Ms, p95Ms, p99Ms, maxMs].map((ms) => (ms / 1000).toFixed(2))];
}
