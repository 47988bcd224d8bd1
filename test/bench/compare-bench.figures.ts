import type { LoadResult } from './gateway-bench.load.js';
import type { Mode } from './gateway-bench.relay.js';
import { percentile, printTable } from './report.js';

/** What the load saw, and the processor time that all processes of the relay took per image. */
export type Measured = LoadResult & { cpuMs: number };

/** The measurements of one relay in one round. */
export interface Figures {
  /** At each rate. */
  atRates: Measured[];
  /** With many concurrent callers. */
  closed: Measured;
  megabytes: number;
}

/** Requests per second at which latency is measured. */
export const RATES = [20, 200] as const;

export interface Round {
  /** The floor's p50. */
  floorMs: number;
  /** The same at each rate, at which the floor is as cold as a relay is. */
  floorAtMs: number[];
  /** The stub alone, at each rate. */
  direct: LoadResult[];
  this: Figures;
  other: Figures;
}

/** One figure of both relays, and its unit. */
interface Compared {
  what: string;
  this: number;
  other: number;
  unit: string;
}

/** The median of the rounds. */
export function compare(rounds: readonly Round[]): Compared[] {
  const both = (what: string, unit: string, of: (round: Round, side: Figures) => number): Compared => ({
    what,
    unit,
    this: middle(rounds.map((round) => of(round, round.this))),
    other: middle(rounds.map((round) => of(round, round.other))),
  });
  const added = (at: number, part: 'p50Ms' | 'p99Ms') => (round: Round, side: Figures) =>
    ((side.atRates[at]?.[part] ?? NaN) - (round.direct[at]?.[part] ?? NaN)) / round.floorMs;
  const floorAt = (at: number) => (round: Round) => (round.floorAtMs[at] ?? NaN) / round.floorMs;
  return [
    ...RATES.flatMap((rate, at) => [
      both(`floor at ${rate}/s, p50`, 'F', floorAt(at)),
      both(`added at ${rate}/s, p50`, 'F', added(at, 'p50Ms')),
      both(`added at ${rate}/s, p99`, 'F', added(at, 'p99Ms')),
    ]),
    both('images per second', '/s', (_round, side) => side.closed.perSecond),
    // At lower rates, what the programs do without any calls would outweigh the calls.
    both(
      `CPU time per image at ${RATES.at(-1)}/s`,
      'ms',
      (_round, side) => side.atRates.at(-1)?.cpuMs ?? NaN,
    ),
    both('CPU time per image', 'ms', (_round, side) => side.closed.cpuMs),
    both('memory', 'MB', (_round, side) => side.megabytes),
  ];
}

function middle(values: number[]): number {
  return percentile(values, 0.5);
}

export function summarize(
  result: { commit: string; mode: Mode; figures: Compared[] },
  isJson: boolean,
): void {
  if (isJson) {
    process.stdout.write(`${JSON.stringify({ bench: 'compare', ...result })}\n`);
    return;
  }
  printTable(
    [`${result.mode}, beside ${result.commit.slice(0, 9)}`, 'this', 'other', 'unit', 'this / other'],
    result.figures.map((figure) => [
      figure.what,
      figure.this.toFixed(2),
      figure.other.toFixed(2),
      figure.unit,
      (figure.this / figure.other).toFixed(2),
    ]),
  );
}
