import type pg from 'pg';
import { readCursors } from './lot-cursors.js';
import { type AccountEvents, readLotEvents } from './lot-events.js';
import { type LotPlayer, RowStraddles } from './lot-player.js';
import { playAccount, writePlays } from './lot-writer.js';
import type { LockedAccount } from '../postings/posting.js';

/** Current lots of credits with what was paid for them, for refunds and disputes. */

export interface Lot {
  id: bigint;
  topupId: string | null;
  /** As it was bought, nanos and minor units. */
  bought: { credits: bigint; paidMinor: bigint };
  /** What is left of these after refunds and chargebacks, used or not. */
  credits: bigint;
  paidMinor: bigint;
  /** Of `credits`. */
  used: bigint;
  unused: bigint;
  /** The part of `paidMinor` that is revenue or has made up for a loss. */
  recognisedMinor: bigint;
}

/**
 * Brings the lots of an account to the present, what the caller's transaction has posted included, and recognises the revenue
 * of it. The caller has locked the account's balances, and calls it for one account in its transaction: cursors of several
 * would be locked in no order. @throws LotsBroken
 */
export async function advanceLots(client: pg.ClientBase, account: LockedAccount): Promise<void> {
  const { accountId } = account;
  await client.query(
    'INSERT INTO lot_cursors (account_id, through_id) VALUES ($1, 0) ON CONFLICT DO NOTHING',
    [accountId],
  );
  const after = (await readCursors(client, [accountId], 'FOR UPDATE')).get(accountId) ?? 0n;
  const scope = { account, after };
  const [found] = await readLotEvents(client, scope);
  // By then it is up to date, whichever chunks were written, or nothing is left to play.
  await client.query('UPDATE lot_cursors SET stuck = NULL WHERE account_id = $1 AND stuck IS NOT NULL', [
    accountId,
  ]);
  const throughId = found?.events.at(-1)?.id;
  if (!found || throughId === undefined) return;
  const player = await playInParts(found, async () => (await readLotEvents(client, scope, [accountId]))[0]);
  await writePlays(client, [{ accountId, player, throughId }], `recognition:${accountId}:${throughId}`);
}

async function playInParts(
  found: AccountEvents,
  oneByOne: () => Promise<AccountEvents | undefined>,
): Promise<LotPlayer> {
  try {
    return playAccount(found);
  } catch (error) {
    if (!(error instanceof RowStraddles)) throw error;
    return playAccount((await oneByOne()) as AccountEvents);
  }
}

/** All lots of an account at the present, in the order in which they are used, and what was used beyond them all. */
export async function readLots(
  client: pg.ClientBase,
  account: LockedAccount,
): Promise<{ lots: Lot[]; unmet: bigint }> {
  await advanceLots(client, account);
  const { rows } = await client.query<LotRow>(
    `SELECT l.id, l.topup_id AS "topupId", l.credits AS "boughtCredits", l.paid_minor AS "boughtMinor",
       s.credits, s.paid_minor AS "paidMinor", s.used, s.credits - s.used AS unused, s.recognised_minor AS "recognisedMinor"
     FROM credit_lots l JOIN lot_states s ON s.lot_id = l.id WHERE l.account_id = $1 ORDER BY l.id`,
    [account.accountId],
  );
  const unmet = await client.query<{ credits: bigint }>(
    'SELECT coalesce(sum(credits), 0)::bigint AS credits FROM lot_unmet WHERE account_id = $1',
    [account.accountId],
  );
  return { lots: rows.map(toLot), unmet: unmet.rows[0]?.credits ?? 0n };
}

type LotRow = Omit<Lot, 'bought'> & { boughtCredits: bigint; boughtMinor: bigint };

function toLot({ boughtCredits, boughtMinor, ...lot }: LotRow): Lot {
  return { ...lot, bought: { credits: boughtCredits, paidMinor: boughtMinor } };
}

/** The lot that a posting brought, and what is unused of it at the present. */
export async function unusedOfPosting(
  client: pg.ClientBase,
  account: LockedAccount,
  transactionId: bigint,
): Promise<{ lotId: bigint; credits: bigint }> {
  const { rows } = await client.query<{ id: bigint }>(
    'SELECT id FROM credit_lots WHERE transaction_id = $1',
    [transactionId],
  );
  const { lots } = await readLots(client, account);
  const lot = lots.find(({ id }) => id === rows[0]?.id);
  if (!lot) throw new Error(`transaction ${transactionId} has no lot`);
  return { lotId: lot.id, credits: lot.unused };
}

/** The payment for `credits` of a lot's unused part: for all of it what is not recognised, else in proportion, down. */
export function unusedPayment(lot: Lot, credits: bigint): bigint {
  if (lot.credits === 0n) return 0n;
  if (credits === lot.unused) return lot.paidMinor - lot.recognisedMinor;
  return (lot.paidMinor * credits) / lot.credits;
}

export interface LotChange {
  lotId: bigint;
  transactionId: bigint;
  kind:
    | 'refund'
    | 'refund-returned'
    | 'chargeback'
    | 'chargeback-won'
    | 'adjustment-reversed'
    | 'write-off-reversed';
  credits: bigint;
  paidMinor: bigint;
}

/** Notes credits that left a lot unused, or came back to it, with their part of its payment. */
export async function insertLotChange(client: pg.ClientBase, change: LotChange): Promise<void> {
  await client.query(
    'INSERT INTO credit_lot_changes (lot_id, transaction_id, kind, credits, paid_minor) VALUES ($1, $2, $3, $4, $5)',
    [change.lotId, change.transactionId, change.kind, change.credits, change.paidMinor],
  );
}
