import type { Days } from '#finance/reports/revenue.js';
import { daysOf } from '#finance/views/revenue.view.js';
import { invalidField } from '#platform/errors.js';
import { time, utcDay } from '#platform/http/fields.js';

const DAY_MS = 24 * 3_600_000;
const DAYS_SHOWN = 31;
const MOST_DAYS = 92;

export const timeRange = {
  from: time.optional().describe('At or after this time. Default: 31 days before `to`.'),
  to: time.optional().describe(`Before this time. Default: now. At most ${MOST_DAYS} days after \`from\`.`),
};

export const dayRange = {
  from: utcDay.optional().describe('The first UTC day. Default: the first day of this month.'),
  to: utcDay.optional().describe('The day after the last day. Default: tomorrow.'),
};

/** @throws ApiError if the range is empty, or longer than a report may be */
export function checkedTimes(
  query: { from?: Date | undefined; to?: Date | undefined },
  nowMs: number,
): { from: Date; to: Date } {
  const to = query.to ?? new Date(nowMs);
  const from = query.from ?? new Date(to.getTime() - DAYS_SHOWN * DAY_MS);
  const lengthMs = to.getTime() - from.getTime();
  if (lengthMs > 0 && lengthMs <= MOST_DAYS * DAY_MS) return { from, to };
  throw invalidField('from', `must be before to, by at most ${MOST_DAYS} days.`);
}

/** @throws ApiError if the range is empty */
export function checkedDays(query: { from?: string | undefined; to?: string | undefined }): Days {
  const days = daysOf(query, new Date());
  if (days.from < days.to) return days;
  throw invalidField('to', 'must be after from.');
}
