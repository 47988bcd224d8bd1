import { chargeStages, families } from '../../api/enumerations.js';
import {
  anyDay,
  anyGroup,
  anyId,
  anyModel,
  anyText,
  anyTime,
  cursor,
  oneOf,
  type SearchOf,
} from '../../ui/search.js';
import { requestTimes, type UsageSearch, usageRanges, workFilter } from '../usage/usage-search.js';

export const logSearch = {
  /** Everything that is kept when left out. */
  range: oneOf(...usageRanges),
  /** UTC days in place of a range. */
  from: anyDay,
  to: anyDay,
  /** The start of a chart's step. */
  at: anyTime,
  keyId: anyId,
  model: anyModel,
  group: anyGroup,
  family: oneOf(...families),
  state: oneOf(...chargeStages),
  /** Finds requests by any id. */
  id: anyText,
  cursor,
  charge: anyText,
};

type LogSearch = SearchOf<typeof logSearch>;

export function logQuery(search: LogSearch, nowMs: number) {
  return { ...workFilter(search), state: search.state, ...requestTimes(search, nowMs) };
}

/** The requests behind a usage chart, or behind one of its steps. */
export function logOf(search: UsageSearch, at?: string): LogSearch {
  const { range = '30d', from, to } = search;
  return { ...workFilter(search), ...(from === undefined ? { range } : { from, to }), at };
}
