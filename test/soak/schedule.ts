import { Dice } from '../support/month/dice.js';

/** What happens in each strike. */
const KINDS = {
  point: 'killed at',
  relay: 'relay killed',
  gateway: 'gateway killed',
  billing: 'billing killed',
  controlPlane: 'control plane killed',
  videoWorker: 'video worker killed',
  postgres: 'postgres killed',
  'postgres-cut': 'connections to postgres cut',
  'postgres-slow': 'postgres slow',
  'postgres-silent': 'postgres silent',
  pools: 'connections to postgres taken',
  disk: 'disk full',
  clock: 'clock an hour wrong',
  names: 'names gone',
  'upstream-cut': 'connections to the upstream cut',
  'upstream-slow': 'upstream slow',
  'upstream-silent': 'upstream silent',
  broker: 'broker killed',
  'broker-paused': 'broker paused',
  'broker-silent': 'broker silent to programs',
} as const;

export type Kind = keyof typeof KINDS;

/** A fault of a program, or of something that programs depend on. */
export interface Strike {
  /** When it happens, as a fraction of the run from 0 to 1. */
  at: number;
  kind: Kind;
  /** The point at which the program kills itself, and on which visit. */
  point: string | null;
  /** How long it lasts, unless it is momentary. */
  seconds: number;
  /** At least 0 and below 1, for what the kind leaves open, such as which broker. */
  draw: number;
}

/** The arguments of `crashPoint` on the way of calls for images, videos and chats. */
const POINTS = [
  'task.before-insert',
  'charge.held',
  'upstream.before',
  'upstream.accepted',
  'upstream.ended',
  'file.copied',
  'task.ended',
  'delivery.before-resolve',
  'batch.before-commit',
  'batch.committed',
  'recognition.planned',
  'recognition.written',
  'recognition.before-commit',
];

/** The mean time between two strikes. */
const EVERY_SECONDS = 9;
/** How many strikes in a hundred hit a named point. */
const POINT_PERCENT = 40;
const SECONDS = [2, 8] as const;

interface ScheduleOptions {
  seed: number;
  minutes: number;
  /** What can happen at any time. */
  kinds: readonly Kind[];
}

/** The strikes of a run. The same seed always gives the same ones. The first and last tenth of a run are quiet. */
export function drawStrikes({ seed, minutes, kinds }: ScheduleOptions): Strike[] {
  const dice = new Dice(seed);
  const count = Math.max(2, Math.round((minutes * 60) / EVERY_SECONDS));
  const strikes = Array.from({ length: count }, (): Strike => {
    const any = { at: 0.1 + 0.8 * dice.chance(), seconds: dice.between(...SECONDS), draw: dice.chance() };
    if (!dice.percent(POINT_PERCENT)) return { ...any, kind: dice.one(kinds), point: null };
    const name = dice.one(POINTS);
    const point = dice.percent(50) ? name : `${name}#${dice.between(2, 4)}`;
    return { ...any, kind: 'point', point };
  });
  return strikes.sort((one, other) => one.at - other.at);
}

export function strikeName({ kind, point }: Pick<Strike, 'kind' | 'point'>): string {
  return point === null ? KINDS[kind] : `${KINDS[kind]} ${point.split('#')[0]}`;
}

/**
 * Removes halves for as long as a run with the rest still fails, in a limited number of runs.
 * @returns the shortest list that failed
 */
export async function shrink<T>(
  all: readonly T[],
  { fails, runs }: { fails: (fewer: readonly T[]) => Promise<boolean>; runs: number },
): Promise<readonly T[]> {
  let fewest = all;
  for (let left = runs; left > 0 && fewest.length > 1;) {
    const middle = fewest.length >> 1;
    let smaller: readonly T[] | undefined;
    for (const half of [fewest.slice(0, middle), fewest.slice(middle)]) {
      if (smaller !== undefined || left === 0) break;
      left -= 1;
      if (await fails(half)) smaller = half;
    }
    if (smaller === undefined) return fewest;
    fewest = smaller;
  }
  return fewest;
}
