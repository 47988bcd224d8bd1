import type { LedgerCursor } from '#ledger/ledger-account-statement.js';
import { readCursor } from '../http/page.js';
import { timeOf } from './ledger.view.js';

/** A transaction, an ordinal, a balance and a time as the database writes it. */
const KEY = /^\d{1,18} \d{1,4} -?\d{1,30} \d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d{1,6})?\+00$/;

/** What the next page of a statement continues after. */
export function ledgerCursorKey({ transactionId, ordinal, balance, to }: LedgerCursor): string {
  return `${transactionId} ${ordinal} ${balance} ${to}`;
}

/** Where a page begins; null: at the beginning. @throws ApiError for a cursor that is not ours */
export function readLedgerCursor(cursor: string | undefined): LedgerCursor | null {
  const key = readCursor(cursor, 1, KEY)?.[0];
  if (key === undefined) return null;
  const [transactionId = '', ordinal = '', balance = '', ...words] = key.split(' ');
  const to = words.join(' ');
  // The 31st of February is of the pattern, but no time.
  if (!isTime(to)) readCursor('', 1);
  return { transactionId: BigInt(transactionId), ordinal: Number(ordinal), balance: BigInt(balance), to };
}

function isTime(text: string): boolean {
  const ms = Date.parse(timeOf(text) ?? '');
  return !Number.isNaN(ms) && new Date(ms).toISOString().slice(0, 10) === text.slice(0, 10);
}
