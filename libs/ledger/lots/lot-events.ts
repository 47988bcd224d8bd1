import type pg from 'pg';
import { chargeReference } from '../charges/charge.js';
import { listOf } from './list-of.js';
import type { EarlierUse, LotEvent, LotPurpose, LotState, UnmetUse } from './lot.js';
import { readCursors } from './lot-cursors.js';
import { type AccountScope, isoText, type Move, readMovesOfAccount } from './lot-moves.js';
import { RangeMoves } from './range-moves.js';

/** Reads what happened to lots since their accounts' cursors from the ledger, with the lots at that time. */

export interface AccountEvents {
  readonly accountId: string;
  /** Its cursor, or null if nothing was played yet. */
  readonly cursor: bigint | null;
  readonly events: LotEvent[];
  readonly lots: LotState[];
  readonly unmet: UnmetUse[];
  readonly earlier: (useId: bigint, purpose: LotPurpose) => readonly EarlierUse[];
}

/**
 * By account, in ledger order. Settlements that follow each other and are of one family and UTC day come as one event, but for the
 * accounts of `oneByOne`, which are the only ones then. Leaves out what is before an account's cursor, and stuck accounts except
 * the requested one.
 */
export async function readLotEvents(
  client: pg.ClientBase,
  of: AccountScope | RangeMoves,
  oneByOne: readonly string[] | null = null,
): Promise<AccountEvents[]> {
  const moves =
    of instanceof RangeMoves
      ? await of.moves(oneByOne)
      : await readMovesOfAccount(client, of, oneByOne !== null);
  const causes = await readCauses(client, of, oneByOne);
  const events = new Map<string, LotEvent[]>();
  const restores: Restore[] = [];
  for (const move of moves) {
    const own = causes.get(causeKey(move)) ?? [];
    const ofAccount = listOf(events, move.accountId);
    ofAccount.push(...own);
    const rest = move.net - own.reduce((sum, { credits }) => sum + credits, 0n);
    if (rest < 0n) ofAccount.push(useOf(move, -rest));
    if (rest > 0n) {
      const restore = { accountId: move.accountId, chargeId: move.chargeId, event: restoreOf(move, rest) };
      restores.push(restore);
      ofAccount.push(restore.event);
    }
  }
  await nameRefundedUses(client, restores);
  return withStates(client, events, restores);
}

type Restore = {
  accountId: string;
  chargeId: string | null;
  event: { -readonly [K in keyof RestoreEvent]: RestoreEvent[K] };
};
type RestoreEvent = Extract<LotEvent, { kind: 'restore' }>;

function useOf({ id, firstId, count, kind, purpose, effectiveAt }: Move, credits: bigint): LotEvent {
  // A reversed write-off restores the debt that its lot had covered.
  const isDebt = kind.startsWith('chargeback') || kind === 'write-off-reversed';
  const of = purpose ?? (isDebt ? 'debt' : 'adjustment');
  return { kind: 'use', id, firstId, count, purpose: of, credits, effectiveAt };
}

/** A charge's use is named by its settlement, which is looked up after. */
function restoreOf({ id, kind, linkedId, effectiveAt }: Move, credits: bigint): RestoreEvent {
  const purpose = kind.startsWith('chargeback') ? 'debt' : 'adjustment';
  return { kind: 'restore', id, useId: linkedId ?? 0n, useCredits: 0n, purpose, credits, effectiveAt };
}

type Cause = Extract<LotEvent, { kind: 'lot' } | { kind: 'change' }>;

const CAUSES = `SELECT "accountId", found.kind, "transactionId" AS id, "lotId", credits, "paidMinor",
     ${isoText('least(t.effective_at, clock_timestamp())')} AS "effectiveAt"
   FROM (
     SELECT account_id AS "accountId", 'lot' AS kind, transaction_id AS "transactionId", id AS "lotId", credits,
       paid_minor AS "paidMinor", 0 AS place, id
     FROM credit_lots WHERE transaction_id > $1 AND ($2::bigint IS NULL OR transaction_id <= $2)
       AND ($3::text[] IS NULL OR account_id = ANY ($3))
     UNION ALL
     SELECT l.account_id, 'change', c.transaction_id, c.lot_id, c.credits, c.paid_minor, 1, c.id
     FROM credit_lot_changes c JOIN credit_lots l ON l.id = c.lot_id
     WHERE c.transaction_id > $1 AND ($2::bigint IS NULL OR c.transaction_id <= $2) AND c.kind <> 'debt'
       AND ($3::text[] IS NULL OR l.account_id = ANY ($3))) AS found
   JOIN ledger_transactions t ON t.id = "transactionId"
   ORDER BY "transactionId", place, found.id`;

/** Lots that came, and credits that left a lot or came back to it, by account and transaction. */
async function readCauses(
  client: pg.ClientBase,
  of: AccountScope | RangeMoves,
  oneByOne: readonly string[] | null,
): Promise<Map<string, Cause[]>> {
  const isRange = of instanceof RangeMoves;
  const accounts = isRange ? oneByOne : [of.account.accountId];
  const { after, through } = isRange ? of.scope : { after: of.after, through: null };
  const { rows } = await client.query<Cause & { accountId: string }>(CAUSES, [after, through, accounts]);
  const causes = new Map<string, Cause[]>();
  for (const { accountId, ...cause } of rows)
    listOf(causes, causeKey({ accountId, id: cause.id })).push(cause);
  return causes;
}

/** Fills in which settlement a refund of a charge reverses, and how much that was. */
async function nameRefundedUses(client: pg.ClientBase, restores: readonly Restore[]): Promise<void> {
  const refunds = restores.filter(({ chargeId }) => chargeId !== null);
  if (refunds.length === 0) return;
  const { rows } = await client.query<{
    reference: string;
    useId: bigint;
    purpose: LotPurpose;
    useCredits: bigint;
  }>(
    `SELECT t.reference, t.id AS "useId", split_part(a.code, ':', 2) AS purpose, e.amount AS "useCredits"
     FROM ledger_transactions t JOIN ledger_entries e ON e.transaction_id = t.id
     JOIN ledger_accounts a ON a.id = e.ledger_account_id
     WHERE t.reference = ANY ($1) AND a.code LIKE 'usage:%'`,
    [refunds.map(({ chargeId }) => chargeReference(chargeId ?? '', 'resolve'))],
  );
  const settlements = new Map(rows.map((row) => [row.reference, row]));
  for (const { chargeId, event } of refunds) {
    const settlement = settlements.get(chargeReference(chargeId ?? '', 'resolve'));
    if (!settlement) continue;
    const { reference: _, ...use } = settlement;
    Object.assign(event, use);
  }
}

async function withStates(
  client: pg.ClientBase,
  events: ReadonlyMap<string, LotEvent[]>,
  restores: readonly Restore[],
): Promise<AccountEvents[]> {
  const accountIds = [...events.keys()];
  const earlier = await readEarlierUses(client, restores);
  const named = [
    ...[...events.values()].flat().flatMap((event) => (event.kind === 'change' ? [event.lotId] : [])),
    ...[...earlier.values()].flat().map(({ lotId }) => lotId),
  ];
  const lots = await readStates(client, accountIds, named);
  const unmet = await readUnmet(client, accountIds);
  const cursors = await readCursors(client, accountIds);
  return [...events].map(([accountId, own]) => ({
    accountId,
    cursor: cursors.get(accountId) ?? null,
    events: own,
    lots: lots.get(accountId) ?? [],
    unmet: unmet.get(accountId) ?? [],
    earlier: (useId, purpose) => earlier.get(`${accountId} ${purpose} ${useId}`) ?? [],
  }));
}

const EARLIER_USES = `SELECT r.key, u.lot_id AS "lotId", u.first_use_id AS "firstUseId", u.last_use_id AS "lastUseId", u.credits
  FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[]) AS r (key, account_id, purpose, use_id)
  CROSS JOIN LATERAL (
    SELECT * FROM lot_uses e
    WHERE e.account_id = r.account_id AND e.purpose = r.purpose AND e.last_use_id = r.use_id
    UNION ALL
    (SELECT * FROM (SELECT * FROM lot_uses e
       WHERE e.account_id = r.account_id AND e.purpose = r.purpose AND e.last_use_id > r.use_id
         AND e.first_use_id < e.last_use_id ORDER BY e.last_use_id LIMIT 1) AS row
     WHERE row.first_use_id <= r.use_id)) AS u
  ORDER BY u.id`;

/**
 * What stored uses of the restored transactions took and gave back: rows of their own, and the row of several uses that
 * covers it, of which there is one at most, since rows of one purpose do not overlap.
 */
async function readEarlierUses(
  client: pg.ClientBase,
  restores: readonly Restore[],
): Promise<Map<string, EarlierUse[]>> {
  const found = new Map<string, EarlierUse[]>();
  if (restores.length === 0) return found;
  const keys = [...new Set(restores.map(({ accountId, event }) => keyOf(accountId, event)))];
  const parts = keys.map((key) => key.split(' '));
  const { rows } = await client.query<EarlierUse & { key: string }>(EARLIER_USES, [
    keys,
    parts.map(([accountId]) => accountId),
    parts.map(([, purpose]) => purpose),
    parts.map(([, , id]) => id),
  ]);
  for (const { key, ...use } of rows) listOf(found, key).push(use);
  return found;
}

function keyOf(accountId: string, { purpose, useId }: RestoreEvent): string {
  return `${accountId} ${purpose} ${useId}`;
}

/** Lots with unused credits, and those that are named. The others do not affect what follows. */
async function readStates(
  client: pg.ClientBase,
  accountIds: readonly string[],
  named: readonly bigint[],
): Promise<Map<string, LotState[]>> {
  const { rows } = await client.query<LotState & { accountId: string }>(
    `${LOT_STATES} WHERE s.account_id = ANY ($1) AND s.used < s.credits
     UNION ${LOT_STATES} WHERE s.lot_id = ANY ($2::bigint[]) AND NOT (s.account_id = ANY ($1) AND s.used < s.credits)
     ORDER BY "lotId"`,
    [accountIds, named],
  );
  const states = new Map<string, LotState[]>();
  for (const { accountId, ...state } of rows) listOf(states, accountId).push(state);
  return states;
}

const LOT_STATES = `SELECT s.account_id AS "accountId", s.lot_id AS "lotId", s.credits,
    s.paid_minor AS "paidMinor", s.used, s.recognised_minor AS "recognisedMinor",
    s.last_purpose AS "lastPurpose" FROM lot_states s`;

async function readUnmet(
  client: pg.ClientBase,
  accountIds: readonly string[],
): Promise<Map<string, UnmetUse[]>> {
  const { rows } = await client.query<UnmetUse & { accountId: string }>(
    `SELECT account_id AS "accountId", use_id AS "useId", purpose, credits,
       ${isoText('effective_at')} AS "effectiveAt" FROM lot_unmet
     WHERE account_id = ANY ($1) ORDER BY account_id, use_id`,
    [accountIds],
  );
  const unmet = new Map<string, UnmetUse[]>();
  for (const { accountId, ...use } of rows) listOf(unmet, accountId).push(use);
  return unmet;
}

function causeKey({ accountId, id }: Pick<Move, 'accountId' | 'id'>): string {
  return `${accountId} ${id}`;
}
