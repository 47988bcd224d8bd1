import { type Children, messageOf, withChildren } from './children.js';
import { cpuSecondsOf } from './cpu.js';
import { Generator } from './gateway-bench.generator.js';
import type { LoadOrder, LoadResult } from './gateway-bench.load.js';
import { BenchRelay, type Books, type Mode } from './gateway-bench.relay.js';
import { memoryOf, type MemoryUse, pidsOf, type ProcessGroup } from './memory.js';
import { printTable } from './report.js';

/**
 * Charged image calls through the relay to an upstream that answers at once: how many per second, how much latency the
 * relay adds to the upstream's own, and how much memory its processes use afterwards. Stub, load generator and relay
 * are separate processes on one machine. At the end, the ledger has to agree with the counted answers.
 */
export interface GatewayBenchOptions {
  mode: Mode | 'both';
  /** Seconds per measurement. */
  seconds: number;
  /** Requests per second while latency is measured. */
  rate: number;
  accounts: number;
  json: boolean;
}

interface Throughput {
  format: Format;
  concurrency: number;
  perSecond: number;
  p50Ms: number;
  p95Ms: number;
  p99Ms: number;
}

interface Percentiles {
  p50Ms: number;
  p95Ms: number;
  p99Ms: number;
}

interface ModeResult {
  mode: Mode;
  throughput: Throughput[];
  latency: { rate: number; direct: Percentiles; relay: Percentiles; added: Percentiles };
  /** Memory after all loads, and the processor time per image at full load. */
  processes: (MemoryUse & { cpuMsPerImage: number | null })[];
  ledger: Books & { answers: number; agrees: boolean };
}

type Format = 'b64_json' | 'url';

const CONCURRENCIES = [16, 64, 128];
/** The concurrency of the one line for `url`, whose images are written to disk. */
const URL_CONCURRENCY = 64;
const WARM_UP = { seconds: 4, concurrency: 32 };
/** Direct and relayed latency are measured in turns, so that a busy moment of the machine affects both. */
const LATENCY_ROUNDS = 2;

/** Runs the benchmark and prints the results. Sets the exit code if the ledger does not agree with the answers. */
export function benchGateway(options: GatewayBenchOptions): Promise<void> {
  return withChildren(async (children) => {
    const modes: Mode[] = options.mode === 'both' ? ['standalone', 'kafka'] : [options.mode];
    const results: ModeResult[] = [];
    for (const mode of modes) results.push(await benchMode(mode, options, children));
    report(results, options);
    if (results.some(({ ledger }) => !ledger.ok || !ledger.agrees)) process.exitCode = 1;
  });
}

async function benchMode(mode: Mode, options: GatewayBenchOptions, children: Children): Promise<ModeResult> {
  const stub = children.fork(new URL('./gateway-bench.stub.js', import.meta.url));
  const { port } = await messageOf<{ port: number }>(stub);
  const generator = new Generator(children.fork(new URL('./gateway-bench.load.js', import.meta.url)));
  const stubUrl = `http://127.0.0.1:${port}`;
  say(mode, 'starting');
  const relay = await BenchRelay.start(mode, stubUrl, children);
  try {
    const apiKeys = await relay.openAccounts(options.accounts);
    const target = { mode, generator, apiKeys, relayUrl: `${relay.baseUrl}${PATH}`, stubUrl: stubUrl + PATH };
    await warmUp(target);
    const before = { images: generator.billed, seconds: relay.processes.map(secondsOf) };
    const throughput = await measureThroughput(target, options);
    const images = generator.billed - before.images;
    const seconds = relay.processes.map(secondsOf);
    const latency = await measureLatency(target, options);
    const processes = relay.processes.flatMap((group, index) => {
      const [from, to] = [before.seconds[index], seconds[index]];
      const cpuMsPerImage = from == null || to == null ? null : ((to - from) * 1000) / images;
      return memoryOf([group]).map((use) => ({ ...use, cpuMsPerImage }));
    });
    say(mode, 'checking the ledger');
    const books = await relay.books();
    const agrees = books.charges['settled'] === generator.billed && (books.charges['held'] ?? 0) === 0;
    const ledger = { ...books, answers: generator.billed, agrees };
    return { mode, throughput, latency, processes, ledger };
  } finally {
    await relay.stop();
    await children.stop(generator.child);
    await children.stop(stub);
  }
}

/** Processor time of a group so far, including its descendants. */
function secondsOf(group: ProcessGroup): number | null {
  return cpuSecondsOf([{ name: group.name, pids: pidsOf(group), withChildren: false }]);
}

const PATH = '/v1/images/generations';

interface Target {
  mode: Mode;
  generator: Generator;
  apiKeys: string[];
  relayUrl: string;
  stubUrl: string;
}

function orderFor(
  { apiKeys, relayUrl }: Target,
  how: { seconds: number; load: LoadOrder['load']; format?: Format },
): LoadOrder & { billed: boolean } {
  const { seconds, load, format = 'b64_json' } = how;
  const body = JSON.stringify({ model: 'imgmodel-4', prompt: 'a hat', n: 1, response_format: format });
  return { url: relayUrl, apiKeys, body, seconds, load, billed: true };
}

async function warmUp(target: Target): Promise<void> {
  say(target.mode, 'warming up');
  const { seconds, concurrency } = WARM_UP;
  for (const format of ['b64_json', 'url'] as const) {
    const load = { kind: 'closed', concurrency } as const;
    const { sample } = await target.generator.run(orderFor(target, { seconds, load, format }));
    const answer = JSON.parse(sample) as { data: Record<string, string>[] };
    if (!answer.data[0]?.[format]) throw new Error(`no ${format} in the answer ${sample.slice(0, 200)}`);
  }
}

async function measureThroughput(target: Target, { seconds }: GatewayBenchOptions): Promise<Throughput[]> {
  const cases: { format: Format; concurrency: number }[] = [
    ...CONCURRENCIES.map((concurrency) => ({ format: 'b64_json' as const, concurrency })),
    { format: 'url', concurrency: URL_CONCURRENCY },
  ];
  const results: Throughput[] = [];
  for (const { format, concurrency } of cases) {
    const load = { kind: 'closed', concurrency } as const;
    const result = await target.generator.run(orderFor(target, { seconds, load, format }));
    const { perSecond } = result;
    results.push({ format, concurrency, perSecond, ...percentilesOf(result) });
    say(target.mode, `${format}, ${concurrency} at once: ${Math.round(perSecond)} images/s`);
  }
  return results;
}

async function measureLatency(
  target: Target,
  { seconds, rate }: GatewayBenchOptions,
): Promise<ModeResult['latency']> {
  const load = { kind: 'open', perSecond: rate } as const;
  const relayed = orderFor(target, { seconds, load });
  const rounds: { direct: Percentiles; relay: Percentiles }[] = [];
  for (let round = 1; round <= LATENCY_ROUNDS; round += 1) {
    say(target.mode, `latency at ${rate}/s, round ${round} of ${LATENCY_ROUNDS}`);
    const direct = await target.generator.run({ ...relayed, url: target.stubUrl, billed: false });
    const relay = await target.generator.run(relayed);
    rounds.push({ direct: percentilesOf(direct), relay: percentilesOf(relay) });
  }
  const direct = mean(rounds.map((round) => round.direct));
  const relay = mean(rounds.map((round) => round.relay));
  return { rate, direct, relay, added: combine([relay, direct], ([a = 0, b = 0]) => a - b) };
}

function percentilesOf({ p50Ms, p95Ms, p99Ms }: LoadResult): Percentiles {
  return { p50Ms, p95Ms, p99Ms };
}

function mean(all: Percentiles[]): Percentiles {
  return combine(all, (values) => values.reduce((sum, value) => sum + value, 0) / values.length);
}

function combine(all: Percentiles[], how: (values: number[]) => number): Percentiles {
  const of = (key: keyof Percentiles) => how(all.map((each) => each[key]));
  return { p50Ms: of('p50Ms'), p95Ms: of('p95Ms'), p99Ms: of('p99Ms') };
}

function say(mode: Mode, what: string): void {
  process.stderr.write(`${mode}: ${what}\n`);
}

function report(results: ModeResult[], { json }: GatewayBenchOptions): void {
  if (json) {
    process.stdout.write(`${JSON.stringify({ bench: 'gateway', modes: results })}\n`);
    return;
  }
  printTable(
    ['billed images', 'at once', 'per second', 'p50 ms', 'p95 ms', 'p99 ms'],
    results.flatMap(({ mode, throughput }) =>
      throughput.map((line) => [
        `${mode}, ${line.format}`,
        String(line.concurrency),
        Math.round(line.perSecond).toString(),
        ...inMs(line),
      ]),
    ),
  );
  printTable(
    ['latency at a fixed rate', 'per second', 'p50 ms', 'p95 ms', 'p99 ms'],
    results.flatMap(({ mode, latency }) =>
      (['direct', 'relay', 'added'] as const).map((what) => [
        `${mode}, ${LATENCY_NAMES[what]}`,
        String(latency.rate),
        ...inMs(latency[what]),
      ]),
    ),
  );
  printTable(
    ['processes', 'count', 'MB after the load', 'CPU ms per image'],
    results.flatMap(({ mode, processes }) =>
      processes.map(({ process: name, count, megabytes, cpuMsPerImage }) => [
        `${mode}, ${name}`,
        String(count),
        String(megabytes),
        cpuMsPerImage?.toFixed(2) ?? '-',
      ]),
    ),
  );
  for (const { mode, ledger } of results) process.stdout.write(`${verdict(mode, ledger)}\n`);
}

const LATENCY_NAMES = { direct: 'stub alone', relay: 'through the relay', added: 'added by the relay' };

function inMs({ p50Ms, p95Ms, p99Ms }: Percentiles): string[] {
  return [p50Ms, p95Ms, p99Ms].map((value) => value.toFixed(2));
}

function verdict(mode: Mode, { ok, agrees, answers, charges, violations }: ModeResult['ledger']): string {
  const counts = `${answers} answers, ${charges['settled'] ?? 0} settled charges`;
  if (ok && agrees) return `${mode}: ledger check clean; ${counts}.`;
  return `${mode}: THE LEDGER DOES NOT AGREE: ${counts}; ${JSON.stringify({ charges, violations })}`;
}
