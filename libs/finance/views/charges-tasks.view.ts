import type { z } from 'zod';
import { csvColumns } from '#platform/http/csv.js';
import { FAULTY_WORK, type itemShape, type WorkDay } from '../reports/charges-tasks.js';

type ItemView = z.output<typeof itemShape>;

/** How many of them are faults. */
export function faultsOf(days: readonly WorkDay[]): number {
  const faulty = days.filter(({ state }) => FAULTY_WORK.some((each) => each === state));
  return Number(faulty.reduce((sum, { items }) => sum + items, 0n));
}

export const workColumns = csvColumns<ItemView>(
  'at',
  'state',
  'chargeId',
  'chargeState',
  'amount',
  'settled',
  'taskId',
  'taskState',
  'answered',
  'requestId',
  'accountId',
  'model',
  'channel',
  'transactionIds',
);
