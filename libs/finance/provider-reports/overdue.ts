import type { ControlItem, ControlResult } from '../control.js';

export function withOverdue(
  overdue: readonly ControlItem[],
  { count, items }: ControlResult,
  limit: number,
): ControlResult {
  return { count: count + overdue.length, items: [...overdue, ...items].slice(0, limit) };
}

/**
 * SQL: the state of something that no report has, by the times that reports cover.
 * @param of columns or parameters: it happened at `at` and should be reported from `since` until `due`; `end` is the end of the
 * requested period, or null
 */
export function absentState(of: Record<'covers' | 'until' | 'at' | 'since' | 'due' | 'end', string>): string {
  const { covers, until, at, since, due, end } = of;
  return `CASE WHEN ${covers} @> tstzrange(${since}, ${due}, '[]') THEN 'missing_there'
    WHEN ${due} < ${until} THEN 'not_covered'
    WHEN ${at} < ${end} AND NOT coalesce(${covers} @> tstzrange(${since}, least(${due}, greatest(${at}, ${end})), '[)'), false)
      THEN 'not_covered'
    ELSE 'waiting' END`;
}
