import { expect, it } from 'vitest';
import type { Shape } from '../../api/client.js';
import { BEFORE, hasOthers, namedSubjects, OTHERS, stepValues } from './subject-series.js';

const totals = (amount: string, latencyMs: number | null = null) => ({
  spent: amount,
  requests: 2,
  failures: 1,
  latencyMs,
});
const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', null];
const subjects = names.map((subject) => ({ subject, ...totals('0.1'), before: null }));
const chart: Shape<'UsageChart'> = {
  from: '2026-03-01T00:00:00.000Z',
  to: '2026-03-02T00:00:00.000Z',
  stepSeconds: 86_400,
  total: totals('0.9'),
  before: null,
  subjects,
  points: [],
};

type Totals = Shape<'UsageTotals'>;
const spent = { valueOf: (of: Totals) => of.spent };
const requests = { valueOf: (of: Totals) => String(of.requests) };
const failures = { valueOf: (of: Totals) => String(of.failures) };
const latency = {
  valueOf: ({ latencyMs }: Totals) => (latencyMs === null ? null : String(latencyMs)),
  isAverage: true,
};

it('gives each of the largest its own series and the others one together, exactly', () => {
  expect(namedSubjects(chart)).toEqual(['a', 'b', 'c', 'd', 'e', 'f', 'g']);
  expect(hasOthers(chart)).toBe(true);
  const point = {
    at: chart.from,
    before: totals('7', 30),
    subjects: [
      { subject: 'b', ...totals('0.000000001', 20) },
      { subject: 'h', ...totals('0.1') },
      { subject: null, ...totals('0.2') },
    ],
  };
  const named = ['a', 'b'];
  expect(stepValues(point, named, spent)).toEqual({
    a: '0',
    b: '0.000000001',
    [OTHERS]: '0.3',
    [BEFORE]: '7',
  });
  expect(stepValues(point, named, failures)).toEqual({ a: '0', b: '1', [OTHERS]: '2', [BEFORE]: '1' });
  expect(stepValues(point, named, latency)).toEqual({ a: null, b: '20', [BEFORE]: '30' });
  expect(stepValues({ ...point, before: null }, [], requests)).toEqual({ [OTHERS]: '6' });
});
