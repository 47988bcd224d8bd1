import type { Shape } from '../api/client.js';
import type { System } from './program.js';

type AlarmKind =
  | 'missing'
  | 'silent'
  | 'lag'
  | 'outbox'
  | 'errors'
  | 'repairs'
  | 'late'
  | 'undeliverable'
  | 'deadLetters';

export interface Alarm {
  kind: AlarmKind;
  /** A program, a topic or a count. */
  of: string;
}

/** A few batches behind are normal for a moment. */
const MOST_LAG = 1_000;
const OLDEST_OUTBOX_SECONDS = 60;

/** Share of the last minute's requests. */
const MOST_ERRORS = 0.05;
const FEWEST_REQUESTS = 20;
const PROGRAMS = ['gateway', 'billing', 'control-plane', 'worker'] as const;

export function alarmsOf({ items, deadLetters }: System): Alarm[] {
  const live = items.filter(({ isSilent }) => !isSilent);
  const missing = PROGRAMS.filter((name) => !live.some(({ program }) => program === name));
  const silent = items.filter(({ isSilent, program }) => isSilent && !missing.includes(program));
  return [
    ...missing.map((of): Alarm => ({ kind: 'missing', of })),
    ...silent.map(({ program, instance }): Alarm => ({ kind: 'silent', of: `${program} ${instance}` })),
    ...live.flatMap(ofProgram),
    ...(deadLetters > 0 ? [{ kind: 'deadLetters', of: String(deadLetters) } as const] : []),
  ];
}

function ofProgram({ program, instance, report }: Shape<'Program'>): Alarm[] {
  const name = `${program} ${instance}`;
  const { lag, outbox, requests, repairs = 0, holdsSwept = 0, lateSuccesses = 0, undeliverable = 0 } = report;
  const alarm = (is: boolean, kind: AlarmKind, of = name): Alarm[] => (is ? [{ kind, of }] : []);
  return [
    ...lag.flatMap(({ topic, messages }) => alarm(messages > MOST_LAG, 'lag', topic)),
    ...alarm((outbox?.oldestSeconds ?? 0) > OLDEST_OUTBOX_SECONDS, 'outbox'),
    ...alarm(errorPart(requests?.outcomes ?? {}) > MOST_ERRORS, 'errors'),
    ...alarm(repairs > 0 || holdsSwept > 0, 'repairs'),
    ...alarm(lateSuccesses > 0, 'late'),
    ...alarm(undeliverable > 0, 'undeliverable'),
  ];
}

/** Our share of failed answers; 0 if there were too few requests to tell. */
export function errorPart(outcomes: Record<string, number>): number {
  const all = Object.values(outcomes).reduce((sum, count) => sum + count, 0);
  return all < FEWEST_REQUESTS ? 0 : (outcomes['5xx'] ?? 0) / all;
}
