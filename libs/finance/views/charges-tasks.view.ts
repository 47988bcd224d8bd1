import { allColumns } from '#platform/http/csv.js';
import { FAULTY_WORK, itemShape, type WorkDay } from '../reports/charges-tasks.js';

export function faultsOf(days: readonly WorkDay[]): number {
  const faulty = days.filter(({ state }) => FAULTY_WORK.some((each) => each === state));
  return Number(faulty.reduce((sum, { items }) => sum + items, 0n));
}

export const workColumns = allColumns(itemShape.omit({ subject: true }));
