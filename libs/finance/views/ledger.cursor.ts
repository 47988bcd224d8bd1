import type { LedgerCursor } from '#ledger/reports/ledger-account-statement.js';
import { foreignCursor, isInstantText, readCursorId } from '#platform/http/page.js';

const TIME = '\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d(?:\\.\\d{1,6})?\\+00';
/** A transaction, an ordinal, a balance and times as the database writes them. */
const KEY = new RegExp(`^(\\d{1,18}) (\\d{1,4}) (-?\\d{1,30}) (${TIME}) (${TIME}) (${TIME})$`);

/** The position after which the next page of a statement continues. */
export function ledgerCursorKey(cursor: LedgerCursor): string {
  const { transactionId, ordinal, balance, to, recordedBefore, effectiveAt } = cursor;
  return `${transactionId} ${ordinal} ${balance} ${to} ${recordedBefore} ${effectiveAt}`;
}

/** Where a page begins, or null for the beginning. @throws ApiError for an invalid cursor */
export function readLedgerCursor(cursor: string | undefined): LedgerCursor | null {
  const key = readCursorId(cursor, KEY);
  if (key === null) return null;
  const [, transactionId = '', ordinal = '', balance = '', ...times] = KEY.exec(key) ?? [];
  // The 31st of February matches the pattern, but is not a valid time.
  if (!times.every(isInstantText)) throw foreignCursor();
  const [to = '', recordedBefore = '', effectiveAt = ''] = times;
  return {
    transactionId: BigInt(transactionId),
    ordinal: Number(ordinal),
    balance: BigInt(balance),
    to,
    recordedBefore,
    effectiveAt,
  };
}
