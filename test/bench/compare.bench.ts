import { type ChildProcess, fork } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { databaseName } from '#database/roles.js';
import { startEmbeddedPostgres } from '#database/embedded-postgres.js';
import { createLogger } from '#platform/logging.js';
import { checkOut } from '../support/checkout.js';
import { type Children, messageOf, withChildren } from './children.js';
import {
  compare,
  type Figures,
  type Measured,
  RATES,
  type Round,
  summarize,
} from './compare-bench.figures.js';
import type { SideOrder, SideReady } from './compare-bench.side.js';
import { cpuSecondsOf } from './cpu.js';
import { Generator } from './gateway-bench.generator.js';
import type { LoadOrder, LoadResult } from './gateway-bench.load.js';
import type { Books, Mode } from './gateway-bench.relay.js';
import { oneByOneFloor } from './ledger-bench.floors.js';
import { type Ledger, openLedger } from './ledger.bench.js';
import { memoryOf, pidsOf } from './memory.js';

/**
 * Compares this commit with another one: both relays run and are measured in turns, so that a busy moment of the
 * machine affects both. Every figure is a ratio: to the other commit, or to F, the p50 of a floor measured in the same
 * minutes (one transaction per charge, one in flight). The median round counts.
 */
export interface CompareBenchOptions {
  ref: string;
  mode: Mode;
  /** How often both relays are started, each time for that many rounds: two starts of one commit differ by a tenth. */
  starts: number;
  rounds: number;
  /** Seconds per measurement. */
  seconds: number;
  accounts: number;
  /** The fraction of calls on this side whose traces are recorded and sent, from 0 to 1. If omitted, tracing is off. */
  traces?: string;
  json: boolean;
}

const AT_ONCE = 64;
/** Until everything is compiled. With 4 seconds, two relays of one commit differed by a fifth. */
const WARM_UP = { seconds: 15, load: { kind: 'closed', concurrency: 32 } } as const;
const FLOOR_CUSTOMERS = 64;

interface Side {
  readonly name: 'this' | 'other';
  readonly child: ChildProcess;
  readonly generator: Generator;
  readonly ready: SideReady;
}

interface Bench {
  readonly sides: readonly Side[];
  readonly stub: Generator;
  readonly stubUrl: string;
  readonly floor: Ledger;
  readonly seconds: number;
}

/** Sets the exit code if a ledger does not agree with the answers. */
export function benchCompare(options: CompareBenchOptions): Promise<void> {
  return withChildren(async (children) => {
    const folder = await mkdtemp(join(tmpdir(), 'tollgate-compare-'));
    children.whenGone(() => rm(folder, { recursive: true, force: true }));
    say(`building ${options.ref}`);
    const other = await checkOut(options.ref, join(folder, 'other'));
    const floor = await openFloor(children);
    const stub = children.fork(new URL('./gateway-bench.stub.js', import.meta.url));
    const { port } = await messageOf<{ port: number }>(stub);
    const stubUrl = `http://127.0.0.1:${port}`;
    const order: SideOrder = { mode: options.mode, upstreamUrl: stubUrl, accounts: options.accounts };
    const env = options.traces === undefined ? {} : await collectorOf(children, options.traces);
    const plans: SidePlan[] = [
      { name: 'this', root: process.cwd(), env, order },
      { name: 'other', root: other.root, env: {}, order },
    ];
    const bench = { stub: newGenerator(children), stubUrl, floor, seconds: options.seconds };
    const rounds: Round[] = [];
    for (let start = 1; start <= options.starts; start += 1) {
      say(`start ${start} of ${options.starts}`);
      // What starts second is affected by what the first left behind, so the order alternates.
      const sides = await startSides(children, start % 2 === 0 ? plans.toReversed() : plans);
      rounds.push(...(await measure({ ...bench, sides }, options.rounds)));
      await checkBooks(sides);
      for (const { child, generator } of sides)
        for (const each of [generator.child, child]) await children.stop(each);
    }
    summarize({ commit: other.commit, mode: options.mode, figures: compare(rounds) }, options.json);
  });
}

async function openFloor(children: Children): Promise<Ledger> {
  const dataDir = await mkdtemp(join(tmpdir(), 'tollgate-floor-'));
  const server = await startEmbeddedPostgres({ dataDir, log: createLogger('bench', 'warn') });
  const ledger = await openLedger(server, databaseName, FLOOR_CUSTOMERS);
  let isOpen = true;
  children.whenGone(async () => {
    if (isOpen) {
      isOpen = false;
      await ledger.close();
      await server.stop();
    }
    await rm(dataDir, { recursive: true, force: true });
  });
  return ledger;
}

/** Starts a collector, and returns the settings that make a relay send it traces. */
async function collectorOf(children: Children, part: string): Promise<Record<string, string>> {
  const child = children.fork(new URL('./compare-bench.collector.js', import.meta.url));
  const { port } = await messageOf<{ port: number }>(child);
  return { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`, OTEL_TRACES_SAMPLER_ARG: part };
}

interface SidePlan {
  name: Side['name'];
  root: string;
  env: Record<string, string>;
  order: SideOrder;
}

async function startSides(children: Children, plans: readonly SidePlan[]): Promise<Side[]> {
  const sides: Side[] = [];
  for (const plan of plans) sides.push(await startSide(children, plan));
  return sides;
}

async function startSide(children: Children, { name, root, env, order }: SidePlan): Promise<Side> {
  const child = fork(new URL('./compare-bench.side.js', import.meta.url), {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  children.add(child);
  const started = messageOf<SideReady>(child);
  child.send(order);
  const side = { name, child, generator: newGenerator(children), ready: await started };
  await side.generator.run(orderFor(side, WARM_UP));
  return side;
}

function newGenerator(children: Children): Generator {
  return new Generator(children.fork(new URL('./gateway-bench.load.js', import.meta.url)));
}

const PATH = '/v1/images/generations';
const BODY = JSON.stringify({ model: 'imgmodel-4', prompt: 'a hat', n: 1, response_format: 'b64_json' });

function orderFor(
  { ready }: Side,
  how: Pick<LoadOrder, 'seconds' | 'load'>,
): LoadOrder & { billed: boolean } {
  return { url: `${ready.baseUrl}${PATH}`, apiKeys: ready.apiKeys, body: BODY, ...how, billed: true };
}

async function measure(bench: Bench, count: number): Promise<Round[]> {
  const rounds: Round[] = [];
  for (let round = 1; round <= count; round += 1) {
    say(`round ${round} of ${count}`);
    // What runs second is affected by what the first left behind, so the order alternates.
    const sides = round % 2 === 0 ? [...bench.sides].reverse() : bench.sides;
    const floor = await measureFloor(bench);
    const floorsAt: number[] = [];
    for (const perSecond of RATES) floorsAt.push((await measureFloor(bench, perSecond)).p50Ms);
    const direct = await measureStub(bench);
    const figures = new Map<Side['name'], Figures>();
    for (const side of sides) figures.set(side.name, await measureSide(side, bench.seconds));
    const floors = { floorMs: floor.p50Ms, floorAtMs: floorsAt };
    rounds.push({ ...floors, direct, this: figures.get('this')!, other: figures.get('other')! });
  }
  return rounds;
}

function measureFloor({ floor, seconds }: Bench, perSecond?: number): ReturnType<typeof oneByOneFloor> {
  return oneByOneFloor(floor.billing, floor.accounts, { milliseconds: seconds * 1_000, perSecond });
}

async function measureStub({ stub, stubUrl, seconds }: Bench): Promise<LoadResult[]> {
  const results: LoadResult[] = [];
  for (const perSecond of RATES) {
    const load = { kind: 'open', perSecond } as const;
    const order = { url: stubUrl + PATH, apiKeys: ['none'], body: BODY, seconds, load, billed: false };
    results.push(await stub.run(order));
  }
  return results;
}

async function measureSide(side: Side, seconds: number): Promise<Figures> {
  const atRates: Measured[] = [];
  for (const perSecond of RATES) atRates.push(await measureLoad(side, seconds, { kind: 'open', perSecond }));
  const closed = await measureLoad(side, seconds, { kind: 'closed', concurrency: AT_ONCE });
  const megabytes = memoryOf(side.ready.processes).reduce((sum, use) => sum + use.megabytes, 0);
  return { atRates, closed, megabytes };
}

async function measureLoad(side: Side, seconds: number, load: LoadOrder['load']): Promise<Measured> {
  const { generator, ready } = side;
  const before = { images: generator.billed, seconds: cpuOf(ready) };
  const result = await generator.run(orderFor(side, { seconds, load }));
  const cpuMs = ((cpuOf(ready) - before.seconds) * 1_000) / (generator.billed - before.images);
  return { ...result, cpuMs };
}

/** Processor time of all processes so far, in seconds. */
function cpuOf({ processes }: SideReady): number {
  const pids = [...new Set(processes.flatMap(pidsOf))];
  return cpuSecondsOf([{ name: 'all', pids, withChildren: false }]) ?? NaN;
}

async function checkBooks(sides: readonly Side[]): Promise<void> {
  for (const { name, child, generator } of sides) {
    const answer = messageOf<Books>(child);
    child.send('books');
    const { ok, charges } = await answer;
    if (ok && charges['settled'] === generator.billed) continue;
    say(`THE LEDGER OF ${name} DOES NOT AGREE: ${generator.billed} answers, ${JSON.stringify(charges)}`);
    process.exitCode = 1;
  }
}

function say(text: string): void {
  process.stderr.write(`compare: ${text}\n`);
}
