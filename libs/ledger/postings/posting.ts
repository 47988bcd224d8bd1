import type pg from 'pg';
import { type Nanos, nanos } from '#money/amount.js';
import { NamedError } from '#platform/errors.js';
import { linkLatePosting, placeInTime } from './effective-time.js';
import type { PostingKind } from './posting-kinds.js';

/**
 * Single postings, for everything except charges, which go through the posting engine. The caller's transaction first
 * locks every account involved at once, with `lockBalances`.
 */

type Purpose = 'main' | 'held' | 'invite' | 'refundPending';

/** The locked balances of an account. `post` changes them here and in the database. */
export interface LockedAccount extends Record<Purpose, Nanos> {
  readonly accountId: string;
  frozen: boolean;
  frozenReason: string | null;
  readonly ledgerIds: Readonly<Record<Purpose, string>>;
}

/** One entry, on a customer balance or on an own ledger account. Positive is a credit. */
export type Movement =
  | { account: LockedAccount; purpose: Purpose; amount: bigint }
  | { code: string; commodity: 'CRD' | 'PAY' | 'UPC'; amount: bigint };

export interface Posting {
  /** The id from `takeTransactionId`, if rows had to name the transaction before it was written. */
  id?: bigint;
  kind: PostingKind;
  /** Unique, so that a posting cannot be repeated. */
  reference: string;
  accountId: string | null;
  chargeId?: string | null;
  /** The transaction that this one reverses. */
  linkedId?: bigint | null;
  /** When the fact happened, ISO 8601. Now by default. If the books are closed, it is posted now, as late. */
  effectiveAt?: string | null;
  movements: readonly Movement[];
}

export class UnknownAccount extends NamedError {
  constructor(accountId: string) {
    super(`There is no account ${accountId}.`);
  }
}

/**
 * Locks the balances of accounts in sorted order, so that transactions over several accounts do not deadlock. Call it
 * once in a transaction, with every account. @throws UnknownAccount
 */
export async function lockBalances(
  client: pg.ClientBase,
  accountIds: readonly string[],
): Promise<Map<string, LockedAccount>> {
  const { rows } = await client.query<LockedAccount>(
    `SELECT account_id AS "accountId", main, held, invite, refund_pending AS "refundPending", frozen, frozen_reason AS "frozenReason",
       json_build_object('main', main_ledger_id::text, 'held', held_ledger_id::text, 'invite', invite_ledger_id::text,
         'refundPending', refund_pending_ledger_id::text) AS "ledgerIds"
     FROM customer_balances WHERE account_id = ANY($1::text[]) ORDER BY account_id FOR UPDATE`,
    [accountIds],
  );
  const locked = new Map(rows.map((row) => [row.accountId, row]));
  for (const accountId of accountIds) if (!locked.has(accountId)) throw new UnknownAccount(accountId);
  return locked;
}

/** Locks one account. @throws UnknownAccount */
export async function lockBalance(client: pg.ClientBase, accountId: string): Promise<LockedAccount> {
  return (await lockBalances(client, [accountId])).get(accountId) as LockedAccount;
}

/**
 * Writes a transaction with its entries and the balances that they change, and returns its id. Movements of zero are
 * left out. A main balance that falls below zero freezes its account, with the reason `debt`. The caller decides
 * beforehand whether that may happen. @throws EffectiveTimeRefused; the database's error for a used reference
 */
export async function post(client: pg.ClientBase, posting: Posting): Promise<bigint> {
  const movements = posting.movements.filter(({ amount }) => amount !== 0n);
  const { accountId } = posting;
  const place = await placeInTime(client, { happenedAt: posting.effectiveAt ?? null, accountId });
  const id = posting.id ?? (await takeTransactionId(client));
  const entries = movements.map(moveBalance);
  for (const account of touchedAccounts(movements)) await storeBalances(client, account);
  await client.query(
    `INSERT INTO ledger_transactions (id, kind, reference, account_id, charge_id, linked_id, effective_at)
     VALUES ($1, $2, $3, $4, $5, $6, coalesce($7::timestamptz, ledger_effective_now()))`,
    [
      id,
      posting.kind,
      posting.reference,
      accountId,
      posting.chargeId ?? null,
      posting.linkedId ?? null,
      place.effectiveAt,
    ],
  );
  await insertEntries(client, id, entries);
  if (place.late) await linkLatePosting(client, id, place.late);
  return id;
}

/** The next id of a ledger transaction. The caller has locked everything that the transaction touches. */
export async function takeTransactionId(client: pg.ClientBase): Promise<bigint> {
  // The id of the database's transaction comes first, because the horizons of reports rely on that order.
  const { rows } = await client.query<{ id: bigint }>(
    `SELECT nextval('ledger_transaction_blocks') AS id FROM pg_current_xact_id()`,
  );
  return (rows[0] as { id: bigint }).id;
}

interface Entry {
  ledgerId: string | null;
  code: string | null;
  commodity: string;
  amount: bigint;
  balanceAfter: bigint | null;
}

function moveBalance(movement: Movement): Entry {
  if ('code' in movement) {
    const { code, commodity, amount } = movement;
    return { ledgerId: null, code, commodity, amount, balanceAfter: null };
  }
  const { account, purpose, amount } = movement;
  account[purpose] = nanos(account[purpose] + amount);
  const ledgerId = account.ledgerIds[purpose];
  return { ledgerId, code: null, commodity: 'CRD', amount, balanceAfter: account[purpose] };
}

function touchedAccounts(movements: readonly Movement[]): LockedAccount[] {
  return [...new Set(movements.flatMap((movement) => ('account' in movement ? [movement.account] : [])))];
}

async function storeBalances(client: pg.ClientBase, account: LockedAccount): Promise<void> {
  if (account.main < 0n && !account.frozen) {
    account.frozen = true;
    account.frozenReason = 'debt';
  }
  const { rows } = await client.query<{ frozen: boolean; frozenReason: string | null }>(
    `UPDATE customer_balances SET main = $2, held = $3, invite = $4, refund_pending = $5, frozen = $6, frozen_reason = $7
     WHERE account_id = $1 RETURNING frozen, frozen_reason AS "frozenReason"`,
    [
      account.accountId,
      account.main,
      account.held,
      account.invite,
      account.refundPending,
      account.frozen,
      account.frozenReason,
    ],
  );
  // The database ends the freeze of a paid debt.
  Object.assign(account, rows[0]);
}

/** In one statement, so that the ledger's zero-sum check sees the complete transaction. */
async function insertEntries(client: pg.ClientBase, id: bigint, entries: readonly Entry[]): Promise<void> {
  await client.query(
    `INSERT INTO ledger_entries (transaction_id, ordinal, commodity, ledger_account_id, amount, balance_after)
     SELECT $1, e.position - 1, e.commodity, coalesce(e.ledger_id, (SELECT a.id FROM ledger_accounts a WHERE a.code = e.code)),
       e.amount, e.balance_after
     FROM unnest($2::text[], $3::bigint[], $4::text[], $5::bigint[], $6::bigint[]) WITH ORDINALITY
       AS e (commodity, ledger_id, code, amount, balance_after, position)`,
    [
      id,
      entries.map(({ commodity }) => commodity),
      entries.map(({ ledgerId }) => ledgerId),
      entries.map(({ code }) => code),
      entries.map(({ amount }) => amount),
      entries.map(({ balanceAfter }) => balanceAfter),
    ],
  );
}
