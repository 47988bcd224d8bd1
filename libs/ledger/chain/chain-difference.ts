import { type BlockLeaves, type HashesById, PREFIX_BYTES } from './chain-leaves.js';
import { prefixesOf, type RowsOfBlock, type TransactionRows } from './chain-rows.js';

export const chainFaults = [
  'transaction_changed',
  'transaction_missing',
  'transaction_inserted',
  'account_changed',
  'account_missing',
  'account_unsealed',
  'leaves_changed',
  'block_rows_changed',
  'block_changed',
  'block_missing',
  'head_missing',
  'signature_invalid',
  'head_unsigned',
  'balance_differs',
  'entry_balance_differs',
] as const;

export interface ChainFinding {
  readonly state: (typeof chainFaults)[number];
  readonly block: bigint | null;
  readonly transactionId: bigint | null;
  /** Details of the transaction, if a row still has them. */
  readonly reference: string | null;
  readonly ledgerAccountId: bigint | null;
  readonly message: string;
}

const NOTHING = { block: null, transactionId: null, reference: null, ledgerAccountId: null };

export function finding(
  state: ChainFinding['state'],
  message: string,
  about: Partial<Omit<ChainFinding, 'state' | 'message'>>,
): ChainFinding {
  return { ...NOTHING, ...about, state, message };
}

/** Names the transactions of a block that differ from what was sealed. */
export function* transactionDifferences(
  block: bigint,
  leaves: BlockLeaves,
  rows: RowsOfBlock,
): Generator<ChainFinding> {
  const now = prefixesOf(rows.transactionHashes);
  let [sealed, present] = [0, 0];
  while (sealed < leaves.transactionIds.length || present < rows.transactionIds.length) {
    const sealedId = leaves.transactionIds[sealed] ?? Infinity;
    const presentId = rows.transactionIds[present] ?? Infinity;
    if (sealedId < presentId) {
      const message = `Transaction ${sealedId} is missing, with all its entries.`;
      yield finding('transaction_missing', message, { block, transactionId: BigInt(sealedId) });
      sealed += 1;
    } else if (presentId < sealedId) {
      const { reference, id } = rows.rowsOf(present);
      const message = `Transaction ${id} was inserted after its block was sealed.`;
      yield finding('transaction_inserted', message, { block, transactionId: BigInt(id), reference });
      present += 1;
    } else {
      if (!prefixAt(leaves.transactionHashes, sealed).equals(prefixAt(now, present))) {
        const found = rows.rowsOf(present);
        const { id, reference } = found;
        const message = `Transaction ${id} was changed: ${changesOf(leaves.rowSums[sealed] ?? [], found)}.`;
        yield finding('transaction_changed', message, { block, transactionId: BigInt(id), reference });
      }
      sealed += 1;
      present += 1;
    }
  }
}

/** Which of its rows differ, as far as the checksums show. Entries are sealed by ordinal, starting at 0. */
function changesOf(sums: readonly number[], { own, entries }: TransactionRows): string {
  const [ownSealed, ...sealed] = sums;
  const now = new Map(entries.map(({ ordinal, sum }) => [ordinal, sum]));
  const changes: string[] = [];
  if (own === null) changes.push('its own row is missing');
  else if (own !== ownSealed) changes.push('its own row differs');
  for (const [ordinal, sum] of sealed.entries()) {
    const present = now.get(ordinal);
    if (present === undefined) changes.push(`entry ${ordinal} is missing`);
    else if (present !== sum) changes.push(`entry ${ordinal} differs`);
    now.delete(ordinal);
  }
  for (const ordinal of now.keys()) changes.push(`entry ${ordinal} was inserted`);
  return changes.join(', ') || 'its check sums agree, its hash does not';
}

/** Names the ledger accounts of a block that differ from what was sealed. */
export function* accountDifferences(
  block: bigint,
  leaves: BlockLeaves,
  accounts: HashesById,
): Generator<ChainFinding> {
  const now = prefixesOf(accounts.hashes);
  const places = new Map(accounts.ids.map((id, place) => [id, place]));
  for (const [index, id] of leaves.accountIds.entries()) {
    const place = places.get(id);
    const about = { block, ledgerAccountId: BigInt(id) };
    if (place === undefined) yield finding('account_missing', `Ledger account ${id} is missing.`, about);
    else if (!prefixAt(leaves.accountHashes, index).equals(prefixAt(now, place)))
      yield finding('account_changed', `Ledger account ${id} was changed, such as renamed.`, about);
  }
}

function prefixAt(hashes: Buffer, index: number): Buffer {
  return hashes.subarray(index * PREFIX_BYTES, (index + 1) * PREFIX_BYTES);
}
