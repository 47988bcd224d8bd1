import type pg from 'pg';
import type { LockedAccount } from './posting.js';

/**
 * Which credits of an account are used: lots are consumed by settled amounts in ledger order, first in first out; holds and
 * releases touch no lot; a refund of a charge restores what that charge consumed (money.md 3). Nothing of it is stored,
 * since it follows from the ledger.
 */

export interface Lot {
  id: bigint;
  topupId: string | null;
  /** As it was bought, nanos and minor units. */
  bought: { credits: bigint; paidMinor: bigint };
  /** What is left of that after refunds and chargebacks, used or not. */
  credits: bigint;
  paidMinor: bigint;
  /** Of `credits`. */
  used: bigint;
  unused: bigint;
  /** Of `used`: what covered debts of chargebacks. */
  usedByDebt: bigint;
  /** The part of `usedByDebt` that has been written down, and the payment for it that was posted. */
  debtWritten: { credits: bigint; paidMinor: bigint };
}

/** Something that happened to an account's lots, in ledger order. */
export type LotEvent =
  | { kind: 'lot'; lotId: bigint; credits: bigint }
  /** Credits left a lot unused, or came back; negative when they left. */
  | { kind: 'change'; lotId: bigint; credits: bigint }
  /** Uses without a key are never restored. */
  | { kind: 'use'; key: string | null; isDebt: boolean; amount: bigint }
  | { kind: 'restore'; key: string; amount: bigint };

interface Use {
  key: string | null;
  isDebt: boolean;
  /** What it consumed, in order. */
  slices: { lotId: bigint; amount: bigint }[];
  unmet: bigint;
}

export interface Replayed {
  unused: Map<bigint, bigint>;
  usedByDebt: Map<bigint, bigint>;
  /** Used beyond all lots: the next credits cover it. */
  unmet: bigint;
}

/** Plays events in order. Pure. */
export function replayLots(events: readonly LotEvent[]): Replayed {
  const unused = new Map<bigint, bigint>();
  const uses: Use[] = [];
  const consume = (use: Use): void => {
    for (const [lotId, left] of unused) {
      if (use.unmet === 0n) return;
      const amount = left < use.unmet ? left : use.unmet;
      if (amount <= 0n) continue;
      unused.set(lotId, left - amount);
      use.unmet -= amount;
      use.slices.push({ lotId, amount });
    }
  };
  const coverUnmet = (): void => uses.filter(({ unmet }) => unmet > 0n).forEach(consume);
  for (const event of events) {
    if (event.kind === 'lot') unused.set(event.lotId, event.credits);
    else if (event.kind === 'change')
      unused.set(event.lotId, (unused.get(event.lotId) ?? 0n) + event.credits);
    else if (event.kind === 'restore') restore(uses, unused, event);
    else {
      const use = { key: event.key, isDebt: event.isDebt, slices: [], unmet: event.amount };
      consume(use);
      if (use.key !== null || use.unmet > 0n) uses.push(use);
    }
    if (event.kind !== 'use') coverUnmet();
  }
  return summary(uses, unused);
}

/** Gives back what the uses of a key took last, what they could not take first of all. */
function restore(
  uses: readonly Use[],
  unused: Map<bigint, bigint>,
  event: { key: string; amount: bigint },
): void {
  let left = event.amount;
  for (const use of uses.filter(({ key }) => key === event.key)) {
    const forgiven = left < use.unmet ? left : use.unmet;
    use.unmet -= forgiven;
    left -= forgiven;
    while (left > 0n && use.slices.length > 0) {
      const last = use.slices.at(-1) as Use['slices'][number];
      const amount = left < last.amount ? left : last.amount;
      last.amount -= amount;
      left -= amount;
      unused.set(last.lotId, (unused.get(last.lotId) ?? 0n) + amount);
      if (last.amount === 0n) use.slices.pop();
    }
  }
}

function summary(uses: readonly Use[], unused: Map<bigint, bigint>): Replayed {
  const usedByDebt = new Map<bigint, bigint>();
  for (const { slices } of uses.filter(({ isDebt }) => isDebt)) {
    for (const { lotId, amount } of slices) usedByDebt.set(lotId, (usedByDebt.get(lotId) ?? 0n) + amount);
  }
  return { unused, usedByDebt, unmet: uses.reduce((sum, use) => sum + use.unmet, 0n) };
}

/**
 * The lots of an account whose balances the caller has locked, and what was used beyond them all. Reads every settlement of the account, so it is for what is
 * rare: refunds and disputes.
 */
export async function readLots(
  client: pg.ClientBase,
  account: LockedAccount,
): Promise<{ lots: Lot[]; unmet: bigint }> {
  const stored = await readStoredLots(client, account.accountId);
  const changes = await readChanges(client, account.accountId);
  const moves = await readMoves(client, account);
  const { unused, usedByDebt, unmet } = replayLots(eventsOf(stored, changes, moves));
  const lots = stored.map(({ id, topupId, credits, paidMinor }) => {
    const own = changes.filter(({ lotId }) => lotId === id);
    const left = own.filter(({ kind }) => kind !== 'debt');
    const debt = own.filter(({ kind }) => kind === 'debt');
    const current = credits + sumOf(left, 'credits');
    const unusedNow = unused.get(id) ?? 0n;
    return {
      ...{ id, topupId, bought: { credits, paidMinor }, credits: current },
      paidMinor: paidMinor + sumOf(left, 'paidMinor'),
      used: current - unusedNow,
      unused: unusedNow,
      usedByDebt: usedByDebt.get(id) ?? 0n,
      debtWritten: { credits: sumOf(debt, 'credits'), paidMinor: sumOf(debt, 'paidMinor') },
    };
  });
  return { lots, unmet };
}

/** The payment for `credits` of a lot's unused part: for all of it what is not recognised, else in proportion, down. */
export function unusedPayment(lot: Lot, credits: bigint): bigint {
  if (lot.credits === 0n) return 0n;
  if (credits === lot.unused) return lot.paidMinor - (lot.paidMinor * lot.used) / lot.credits;
  return (lot.paidMinor * credits) / lot.credits;
}

export interface LotChange {
  lotId: bigint;
  transactionId: bigint | null;
  kind: 'refund' | 'refund-returned' | 'chargeback' | 'chargeback-won' | 'debt';
  credits: bigint;
  paidMinor: bigint;
}

export async function insertLotChange(client: pg.ClientBase, change: LotChange): Promise<void> {
  await client.query(
    'INSERT INTO credit_lot_changes (lot_id, transaction_id, kind, credits, paid_minor) VALUES ($1, $2, $3, $4, $5)',
    [change.lotId, change.transactionId, change.kind, change.credits, change.paidMinor],
  );
}

interface StoredLot {
  id: bigint;
  transactionId: bigint;
  topupId: string | null;
  credits: bigint;
  paidMinor: bigint;
}

/** What the main and held balances of an account moved by in one transaction, or in a run of ordinary settlements. */
interface Move {
  transactionId: bigint;
  net: bigint;
  kind: string;
  chargeId: string | null;
  linkedId: bigint | null;
}

function eventsOf(
  lots: readonly StoredLot[],
  changes: readonly LotChange[],
  moves: readonly Move[],
): LotEvent[] {
  return moves.flatMap((move): LotEvent[] => {
    const bought = lots.filter(({ transactionId }) => transactionId === move.transactionId);
    const changed = changes.filter(
      ({ transactionId, kind }) => transactionId === move.transactionId && kind !== 'debt',
    );
    const rest = move.net - sumOf(bought, 'credits') - sumOf(changed, 'credits');
    return [
      ...bought.map(({ id, credits }) => ({ kind: 'lot' as const, lotId: id, credits })),
      ...changed.map(({ lotId, credits }) => ({ kind: 'change' as const, lotId, credits })),
      ...restOf(move, rest),
    ];
  });
}

/** What no lot explains: usage, or usage that was given back. */
function restOf(move: Move, rest: bigint): LotEvent[] {
  const key = move.chargeId ?? (move.linkedId ?? move.transactionId).toString();
  if (rest > 0n) return [{ kind: 'restore', key, amount: rest }];
  const isOrdinary = move.kind === 'settle' && move.chargeId === null;
  if (rest < 0n)
    return [{ kind: 'use', key: isOrdinary ? null : key, isDebt: move.kind === 'chargeback', amount: -rest }];
  return [];
}

async function readStoredLots(client: pg.ClientBase, accountId: string): Promise<StoredLot[]> {
  const { rows } = await client.query<
    Record<'id' | 'transactionId' | 'credits' | 'paidMinor', string> & { topupId: string | null }
  >(
    `SELECT id::text, transaction_id::text AS "transactionId", topup_id AS "topupId", credits::text,
       paid_minor::text AS "paidMinor"
     FROM credit_lots WHERE account_id = $1 ORDER BY transaction_id, id`,
    [accountId],
  );
  return rows.map(({ id, transactionId, topupId, credits, paidMinor }) => ({
    id: BigInt(id),
    transactionId: BigInt(transactionId),
    topupId,
    credits: BigInt(credits),
    paidMinor: BigInt(paidMinor),
  }));
}

async function readChanges(client: pg.ClientBase, accountId: string): Promise<LotChange[]> {
  const { rows } = await client.query<
    Record<'lotId' | 'credits' | 'paidMinor', string> & {
      transactionId: string | null;
      kind: LotChange['kind'];
    }
  >(
    `SELECT c.lot_id::text AS "lotId", c.transaction_id::text AS "transactionId", c.kind, c.credits::text,
       c.paid_minor::text AS "paidMinor"
     FROM credit_lot_changes c JOIN credit_lots l ON l.id = c.lot_id WHERE l.account_id = $1 ORDER BY c.id`,
    [accountId],
  );
  return rows.map(({ lotId, transactionId, kind, credits, paidMinor }) => ({
    lotId: BigInt(lotId),
    transactionId: transactionId === null ? null : BigInt(transactionId),
    kind,
    credits: BigInt(credits),
    paidMinor: BigInt(paidMinor),
  }));
}

/**
 * Settlements between two other transactions come as one, unless something of their charge was given back later: an account
 * has many charges and few of anything else.
 */
async function readMoves(client: pg.ClientBase, { ledgerIds }: LockedAccount): Promise<Move[]> {
  const { rows } = await client.query<
    Record<'transactionId' | 'net', string> & {
      kind: string;
      chargeId: string | null;
      linkedId: string | null;
    }
  >(
    `WITH moved AS (
       SELECT transaction_id, sum(amount) AS net FROM ledger_entries
       WHERE ledger_account_id = ANY($1::bigint[]) GROUP BY transaction_id HAVING sum(amount) <> 0),
     named AS (
       SELECT m.transaction_id, m.net, t.kind, t.charge_id, t.linked_id
       FROM moved m JOIN ledger_transactions t ON t.id = m.transaction_id),
     told AS (
       SELECT n.*, n.kind <> 'settle' OR n.charge_id IN (
           SELECT charge_id FROM named WHERE net > 0 AND charge_id IS NOT NULL) AS alone
       FROM named n),
     runs AS (
       SELECT *, count(*) FILTER (WHERE alone) OVER (ORDER BY transaction_id) AS run FROM told)
     SELECT min(transaction_id)::text AS "transactionId", sum(net)::text AS net, min(kind) AS kind,
       CASE WHEN bool_and(alone) THEN min(charge_id) END AS "chargeId", min(linked_id)::text AS "linkedId"
     FROM runs GROUP BY run, CASE WHEN alone THEN transaction_id END ORDER BY min(transaction_id)`,
    [[ledgerIds.main, ledgerIds.held]],
  );
  return rows.map(({ transactionId, net, kind, chargeId, linkedId }) => ({
    transactionId: BigInt(transactionId),
    net: BigInt(net),
    kind,
    chargeId,
    linkedId: linkedId === null ? null : BigInt(linkedId),
  }));
}

function sumOf<K extends string>(rows: readonly Record<K, bigint>[], column: K): bigint {
  return rows.reduce((sum, row) => sum + row[column], 0n);
}
