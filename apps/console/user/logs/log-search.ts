import { chargeStages, families } from '../../api/enumerations.js';
import { anyDay, anyGroup, anyId, anyModel, anyText, anyTime, cursor, oneOf } from '../../ui/search.js';
import { requestTimes, type UsageSearch, usageRanges, workFilter } from '../usage/usage-search.js';

/** What the address says of the log. */
export const logSearch = {
  /** All that is kept when left out. */
  range: oneOf(...usageRanges),
  /** UTC days in place of a range. */
  from: anyDay,
  to: anyDay,
  /** The beginning of the step of a chart whose requests are listed. */
  at: anyTime,
  keyId: anyId,
  model: anyModel,
  group: anyGroup,
  family: oneOf(...families),
  state: oneOf(...chargeStages),
  /** An id that requests are looked up by. */
  id: anyText,
  cursor,
  /** The request that is open. */
  charge: anyText,
};

export interface LogSearch extends Omit<UsageSearch, 'range' | 'by' | 'show'> {
  range?: (typeof usageRanges)[number] | undefined;
  state?: (typeof chargeStages)[number] | undefined;
  at?: string | undefined;
}

/** What the list is asked for. */
export function logQuery(search: LogSearch, nowMs: number) {
  return { ...workFilter(search), state: search.state, ...requestTimes(search, nowMs) };
}

/** The log of what a chart of usage was drawn of, or of a step of it. */
export function logOf(search: UsageSearch, at?: string): LogSearch {
  const { range = '30d', from, to } = search;
  return { ...workFilter(search), ...(from === undefined ? { range } : { from, to }), at };
}
