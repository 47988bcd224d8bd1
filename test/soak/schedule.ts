import { Dice } from '../support/month/dice.js';

/** A strike: a kill of a program, the database or the broker, a kill at a named point, or a fault of the database's network. */
export interface Strike {
  /** When, as a part of the run from 0 to 1. */
  at: number;
  kind: Target | 'connections' | 'silence' | 'point';
  /** The point at which the program kills itself, and on which visit. */
  point: string | null;
}

/** What can be killed. */
type Target = 'gateway' | 'billing' | 'controlPlane' | 'videoWorker' | 'relay' | 'postgres' | 'kafka';

/** The arguments of `crashPoint` that calls for images, videos and chats pass. */
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
/** Strikes in a hundred that hit a named point. */
const POINT_PERCENT = 55;

interface ScheduleOptions {
  seed: number;
  minutes: number;
  /** What can happen at any time. */
  kinds: readonly Strike['kind'][];
}

/** The strikes of a run: the same seed always gives the same ones. The first and the last tenth of a run are quiet. */
export function drawStrikes({ seed, minutes, kinds }: ScheduleOptions): Strike[] {
  const dice = new Dice(seed);
  const count = Math.max(2, Math.round((minutes * 60) / EVERY_SECONDS));
  const strikes = Array.from({ length: count }, (): Strike => {
    const at = 0.1 + 0.8 * dice.chance();
    if (!dice.percent(POINT_PERCENT)) return { at, kind: dice.one(kinds), point: null };
    const name = dice.one(POINTS);
    return { at, kind: 'point', point: dice.percent(50) ? name : `${name}#${dice.between(2, 4)}` };
  });
  return strikes.sort((one, other) => one.at - other.at);
}

export function strikeName({ kind, point }: Strike): string {
  if (point !== null) return `killed at ${point.split('#')[0]}`;
  if (kind === 'connections') return 'connections to postgres cut';
  return kind === 'silence' ? 'postgres silent' : `${kind} killed`;
}

/**
 * Removes halves as long as a run with the rest still fails, in a bounded number of runs.
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
