import { addDecimals } from '../decimal.js';
import type { ChartPoint } from './chart-props.js';

type OfSubject<Totals> = Totals & { subject: string | null };

/** Time steps, each split by subject, with the period before to compare: the shape of the API's charts. */
export interface SubjectSteps<Totals> {
  total: Totals;
  /** Null if unknown. */
  before: Totals | null;
  /** Largest first. Null is all others together. */
  subjects: readonly OfSubject<object>[];
  points: readonly { before: Totals | null; subjects: readonly OfSubject<Totals>[] }[];
}

export interface Drawn<Totals> {
  /** The exact decimal; null for none. */
  valueOf: (totals: Totals) => string | null;
  /** Averages are never added up. */
  isAverage?: boolean;
}

/** One colour for each subject. More colours would look alike. */
export const SUBJECT_COLORS = [
  'blue.6',
  'teal.6',
  'orange.6',
  'grape.6',
  'cyan.6',
  'pink.6',
  'lime.7',
] as const;

/** Names of other series. No subject begins with a space. */
export const OTHERS = ' others';
export const BEFORE = ' before';

/** The subjects with their own colour, largest first. */
export function namedSubjects({ subjects }: Pick<SubjectSteps<object>, 'subjects'>): string[] {
  const named = subjects.flatMap(({ subject }) => (subject === null ? [] : [subject]));
  return named.slice(0, SUBJECT_COLORS.length);
}

export function hasOthers(chart: Pick<SubjectSteps<object>, 'subjects'>): boolean {
  return chart.subjects.length > namedSubjects(chart).length;
}

/** The values of a subject, step by step; missing ones are zero. */
export function subjectValues<Totals>(
  { points }: Pick<SubjectSteps<Totals>, 'points'>,
  of: string | null,
  valueOf: (totals: Totals) => string,
): string[] {
  return points.map(({ subjects }) => {
    const found = subjects.find(({ subject }) => subject === of);
    return found ? valueOf(found) : '0';
  });
}

/** The values of a step: each named subject, all others together, and the same step of the period before. */
export function stepValues<Totals>(
  point: SubjectSteps<Totals>['points'][number],
  names: readonly string[],
  { valueOf, isAverage = false }: Drawn<Totals>,
): ChartPoint['values'] {
  const values: ChartPoint['values'] = {};
  for (const name of names) {
    const found = point.subjects.find(({ subject }) => subject === name);
    values[name] = found ? valueOf(found) : isAverage ? null : '0';
  }
  if (!isAverage) {
    const others = point.subjects.filter(({ subject }) => subject === null || !names.includes(subject));
    values[OTHERS] = addDecimals('0', ...others.map((each) => valueOf(each) ?? '0'));
  }
  if (point.before !== null) values[BEFORE] = valueOf(point.before);
  return values;
}
