import { withChildren } from './children.js';
import { BenchRelay, type Books } from './gateway-bench.relay.js';
import { percentile, printTable } from './report.js';
import { dice, Load, type Met } from './strangers-bench.load.js';

/**
 * Honest customers beside hostile ones: what they experience alone and together, in one run on one machine. They must
 * get no error of ours, and the slowest one in a hundred of their calls may take at most twice as long.
 */
export interface StrangersBenchOptions {
  seconds: number;
  rate: number;
  seed: number;
  json: boolean;
}

interface Phase {
  name: 'alone' | 'with strangers';
  calls: number;
  p50Ms: number;
  p99Ms: number;
  statuses: Record<string, number>;
}

const HONEST_ACCOUNTS = 4;
const HOSTILE_ACCOUNTS = 3;
const HOSTILE_AT_ONCE = 24;
/** Places of the only channel: few enough to compete for. */
const PLACES = 16;
const MOST_SLOWER = 2;
const WARM_UP_SECONDS = 3;
/** Both are measured in turns, so that a busy moment of the machine affects both. */
const ROUNDS = 3;

/** Runs the benchmark and prints the results. Sets the exit code if a promise was broken. */
export function benchStrangers(options: StrangersBenchOptions): Promise<void> {
  return withChildren(async (children) => {
    // Its own sandbox, which fails on request, and the default limits.
    const relay = await BenchRelay.start('standalone', { url: '', isThrottled: true }, children);
    try {
      await relay.limitChannels(PLACES);
      const phases = await measure(relay, options);
      report(phases, await relay.books(), options);
    } finally {
      await relay.stop();
    }
  });
}

async function measure(relay: BenchRelay, { seconds, rate, seed }: StrangersBenchOptions): Promise<Phase[]> {
  const load = new Load(relay.baseUrl, dice(seed));
  const honest = await relay.openAccounts(HONEST_ACCOUNTS);
  const hostile = await relay.openAccounts(HOSTILE_ACCOUNTS);
  try {
    await load.honest(honest, rate, WARM_UP_SECONDS);
    const met: { alone: Met[]; beside: Met[] } = { alone: [], beside: [] };
    for (let round = 0; round < ROUNDS; round += 1) {
      met.alone.push(await load.honest(honest, rate, seconds / ROUNDS));
      const stop = new AbortController();
      const strangers = load.hostile(hostile, HOSTILE_AT_ONCE, stop.signal);
      met.beside.push(await load.honest(honest, rate, seconds / ROUNDS));
      stop.abort();
      await strangers;
    }
    return [phaseOf('alone', met.alone), phaseOf('with strangers', met.beside)];
  } finally {
    await load.close();
  }
}

function phaseOf(name: Phase['name'], met: Met[]): Phase {
  const latenciesMs = met.flatMap((round) => round.latenciesMs);
  const statuses: Record<string, number> = {};
  for (const round of met)
    for (const [status, count] of Object.entries(round.statuses))
      statuses[status] = (statuses[status] ?? 0) + count;
  const at = (part: number) => Math.round(percentile(latenciesMs, part) * 10) / 10;
  return { name, calls: latenciesMs.length, p50Ms: at(0.5), p99Ms: at(0.99), statuses };
}

function report(phases: Phase[], books: Books, { seed, json }: StrangersBenchOptions): void {
  const [alone, beside] = phases as [Phase, Phase];
  const slower = Math.round((beside.p99Ms / alone.p99Ms) * 100) / 100;
  const faults = Object.keys(beside.statuses).filter((status) => status === '0' || Number(status) >= 500);
  const holds = slower <= MOST_SLOWER && faults.length === 0 && books.ok;
  if (json) process.stdout.write(`${JSON.stringify({ seed, phases, slower, holds, books })}\n`);
  else {
    const rows = phases.map(({ name, calls, p50Ms, p99Ms, statuses }) => [
      name,
      ...[calls, p50Ms, p99Ms].map(String),
      Object.entries(statuses)
        .map(([status, count]) => `${status}: ${count}`)
        .join(', '),
    ]);
    printTable(['honest customers', 'calls', 'p50 ms', 'p99 ms', 'answers'], rows);
    process.stdout.write(`p99 with strangers: ${slower} of what it is alone (seed ${seed}).\n`);
    process.stdout.write(books.ok ? 'The ledger is clean.\n' : `${JSON.stringify(books.violations)}\n`);
  }
  if (!holds) process.exitCode = 1;
}
