import type { CopiedRows } from '#database/copy-out.js';
import { isoInstant } from '#platform/times.js';
import type { JournalTransaction } from './journal.js';

/** An entry as written by COPY. */
export type EntryCells = [transactionId: string, ledgerAccountId: string, amount: string];

/** Whether an entry belongs to a transaction before this ID. */
export function isBefore(entry: EntryCells | undefined, id: string): boolean {
  return entry !== undefined && BigInt(entry[0]) < BigInt(id);
}

export function textLines({ bytes }: CopiedRows): string[] {
  const text = bytes.toString('utf8');
  return text === '' ? [] : text.slice(0, -1).split('\n');
}

type HeadCells = [
  id: string,
  recordedAt: string,
  effectiveAt: string,
  kind: string,
  reference: string,
  charge: string,
];

export function transactionOf(day: string, line: string): JournalTransaction & { id: string } {
  const cells = line.split('\t') as HeadCells;
  const [id, recordedAt, effectiveAt] = cells;
  const plain = line.includes('\\') ? (text: string) => unescaped(text) : (text: string) => text;
  return {
    day,
    id,
    recordedAt: isoInstant(recordedAt),
    effectiveAt: isoInstant(effectiveAt),
    entries: [],
    kind: plain(cells[3]) as string,
    reference: plain(cells[4]),
    chargeId: plain(cells[5]),
  };
}

const ESCAPED: Record<string, string> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' };

/** A cell as written by COPY, or null. */
function unescaped(cell: string): string | null {
  if (cell === '\\N') return null;
  return cell.replace(/\\(.)/g, (_, letter: string) => ESCAPED[letter] ?? letter);
}
