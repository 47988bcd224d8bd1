import { describe, expect, it } from 'vitest';
import type { Shape } from '../api/client.js';
import { alarmsOf, errorPart } from './alarms.js';
import type { System } from './program.js';

const pace = { perSecond: 1, outcomes: {}, p50Ms: 1, p99Ms: 2 };
const report = { messages: pace, lag: [], outbox: { rows: 0, oldestSeconds: 0 }, memoryBytes: 1 };
const at = '2026-01-01T00:00:00.000Z';

function program(
  name: Shape<'Program'>['program'],
  more: Partial<Shape<'Program'>['report']> = {},
  isSilent = false,
): Shape<'Program'> {
  const times = { startedAt: at, reportedAt: at };
  return {
    program: name,
    instance: 'one',
    version: '1.0.0',
    host: 'h',
    ...times,
    isSilent,
    report: { ...report, ...more },
  };
}

const system = (...items: Shape<'Program'>[]): System => ({ items, deadLetters: 0, runningTasks: 0, at });
const well = [
  program('gateway'),
  program('billing', { repairs: 0 }),
  program('control-plane'),
  program('worker'),
];

describe('a live system', () => {
  it('raises no alarm if all is well', () => {
    expect(alarmsOf(system(...well))).toEqual([]);
  });

  it('says which program is missing, and which is silent', () => {
    expect(alarmsOf(system(...well.slice(0, 3)))).toEqual([{ kind: 'missing', of: 'worker' }]);
    const silent = program('worker', {}, true);
    expect(alarmsOf(system(...well.slice(0, 3), silent))).toEqual([{ kind: 'missing', of: 'worker' }]);
    expect(alarmsOf(system(...well, silent))).toEqual([{ kind: 'silent', of: 'worker one' }]);
  });

  it.each([
    ['lag', { lag: [{ topic: 'charge.resolved', group: 'billing', messages: 1_001 }] }],
    ['outbox', { outbox: { rows: 3, oldestSeconds: 61 } }],
    ['errors', { requests: { ...pace, inFlight: 0, outcomes: { '2xx': 90, '5xx': 10 } } }],
    ['repairs', { repairs: 1 }],
    ['repairs', { holdsSwept: 1 }],
    ['late', { lateSuccesses: 1 }],
    ['undeliverable', { undeliverable: 1 }],
  ])('reports %s', (kind, more) => {
    expect(alarmsOf(system(...well, program('billing', more))).map((alarm) => alarm.kind)).toEqual([kind]);
  });

  it('reports dead letters', () => {
    expect(alarmsOf({ ...system(...well), deadLetters: 2 })).toEqual([{ kind: 'deadLetters', of: '2' }]);
  });

  it('ignores a single failure among few requests', () => {
    expect(errorPart({ '2xx': 3, '5xx': 1 })).toBe(0);
    expect(errorPart({ '2xx': 15, '4xx': 4, '5xx': 1 })).toBe(0.05);
  });
});
