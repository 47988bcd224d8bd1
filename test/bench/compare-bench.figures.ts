import type { LoadResult } from './gateway-bench.load.js';
import type { Mode } from './gateway-bench.relay.js';
import { percentile, printTable } from './report.js';

/** What a load met, and the processor time of all processes of the relay for an image of it. */
export type Measured = LoadResult & { cpuMs: number };

/** What was measured of one relay in one round. */
export interface Figures {
  /** At each rate. */
  atRates: Measured[];
  /** With many callers at once. */
  closed: Measured;
  megabytes: number;
}

/** Requests each second at which latency is measured. */
export const RATES = [20, 200] as const;

export interface Round {
  /** p50 of the floor. */
  floorMs: number;
  /** The same at each rate, where it is as cold as a relay is. */
  floorAtMs: number[];
  /** The stub alone, at each rate. */
  direct: LoadResult[];
  this: Figures;
  other: Figures;
}

/** A figure of both, and what it is measured in. */
interface Compared {
  what: string;
  this: number;
  other: number;
  unit: string;
}

/** The middle of the rounds. */
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
    // At lower rates, what the programs do without calls would count for more than the calls.
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
