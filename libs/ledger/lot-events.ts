import type pg from 'pg';
import { chargeReference } from './charge.js';
import type { EarlierUse, LotEvent, LotPurpose, LotState, UnmetUse } from './lot-player.js';
import type { LockedAccount } from './posting.js';

/** Reads from the ledger what happened to lots since their accounts' cursors, and how the lots stood there. */

/** Which transactions: all of a range of ids, or those of one account after its cursor. */
export type LotScope =
  | { readonly after: bigint; readonly through: bigint }
  | { readonly account: LockedAccount; readonly after: bigint };

/** What is to be played of one account. */
export interface AccountEvents {
  readonly accountId: string;
  /** Its cursor; null: nothing of it was played yet. */
  readonly cursor: bigint | null;
  readonly events: LotEvent[];
  readonly lots: LotState[];
  readonly unmet: UnmetUse[];
  readonly earlier: (useId: bigint, purpose: LotPurpose) => readonly EarlierUse[];
}

/**
 * By account, in ledger order, and not later than now, should a clock have been set back. Settlements that follow each other and are of one family and UTC day come as one event, but
 * for the accounts of `oneByOne`, which are the only ones then. What an account's cursor is
 * past is left out, and so are accounts that are stuck, unless it is the one that is asked for.
 */
export async function readLotEvents(
  client: pg.ClientBase,
  scope: LotScope,
  oneByOne: readonly string[] | null = null,
): Promise<AccountEvents[]> {
  const moves = await readMoves(client, scope, oneByOne);
  const causes = await readCauses(client, scope, oneByOne);
  const events = new Map<string, LotEvent[]>();
  const restores: Restore[] = [];
  for (const move of moves) {
    const own = causes.get(causeKey(move)) ?? [];
    const of = listOf(events, move.accountId);
    of.push(...own);
    const rest = move.net - own.reduce((sum, { credits }) => sum + credits, 0n);
    if (rest < 0n) of.push(useOf(move, -rest));
    if (rest > 0n) {
      const restore = { accountId: move.accountId, chargeId: move.chargeId, event: restoreOf(move, rest) };
      restores.push(restore);
      of.push(restore.event);
    }
  }
  await nameRefundedUses(client, restores);
  return withStates(client, events, restores);
}

/** What main and held of an account moved by in one transaction, or in a row of settlements. */
interface Move {
  accountId: string;
  firstId: bigint;
  id: bigint;
  count: number;
  kind: string;
  purpose: LotPurpose | null;
  net: bigint;
  chargeId: string | null;
  linkedId: bigint | null;
  effectiveAt: string;
}

type Restore = {
  accountId: string;
  chargeId: string | null;
  event: { -readonly [K in keyof RestoreEvent]: RestoreEvent[K] };
};
type RestoreEvent = Extract<LotEvent, { kind: 'restore' }>;

function useOf({ id, firstId, count, kind, purpose, effectiveAt }: Move, credits: bigint): LotEvent {
  // A write-off that is reversed brings the debt back that its lot had covered.
  const isDebt = kind.startsWith('chargeback') || kind === 'write-off-reversed';
  const of = purpose ?? (isDebt ? 'debt' : 'adjustment');
  return { kind: 'use', id, firstId, count, purpose: of, credits, effectiveAt };
}

/** A charge's use is named by its settlement, which is looked up after. */
function restoreOf({ id, kind, linkedId, effectiveAt }: Move, credits: bigint): RestoreEvent {
  const purpose = kind.startsWith('chargeback') ? 'debt' : 'adjustment';
  return { kind: 'restore', id, useId: linkedId ?? 0n, useCredits: 0n, purpose, credits, effectiveAt };
}

/** ISO 8601 in UTC, to the microsecond, as SQL: such texts are in the order of their times. */
function isoText(time: string): string {
  return `to_char(${time} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;
}

const RANGE = `SELECT t.id, t.account_id, t.kind, t.charge_id, t.linked_id, t.effective_at FROM ledger_transactions t
    WHERE t.id > $1 AND t.id <= $2 AND t.kind NOT IN ('hold', 'release', 'recognition')
      AND ($3::text[] IS NULL OR t.kind <> 'settle' OR t.account_id = ANY ($3))`;
const OF_ACCOUNT = `SELECT t.id, t.account_id, t.kind, t.charge_id, t.linked_id, t.effective_at FROM ledger_transactions t
    WHERE t.kind NOT IN ('hold', 'release') AND t.id IN (
      SELECT transaction_id FROM ledger_entries WHERE ledger_account_id = ANY ($1::bigint[]) AND transaction_id > $2)`;

const BEYOND_CURSOR = '(c.through_id IS NULL OR s.id > c.through_id)';

/**
 * A settlement takes from main and held together what it books as usage. Everything else is rare, and is told by what it
 * moved on both. $1 to $3 belong to the scope; $4: the only accounts to tell of; $5: which are told one by one.
 */
const movesOf = (scope: string, isDue: string): string => `
  WITH scope AS MATERIALIZED (${scope}),
  settled AS (
    SELECT s.account_id, s.id, s.kind, u.family AS purpose, -e.amount AS net, s.effective_at,
      (s.effective_at AT TIME ZONE 'UTC')::date AS day
    FROM scope s JOIN ledger_entries e ON e.transaction_id = s.id
    JOIN unnest($5::bigint[], $6::text[]) AS u (id, family) ON u.id = e.ledger_account_id
    LEFT JOIN lot_cursors c ON c.account_id = s.account_id
    WHERE s.kind = 'settle' AND ${isDue}),
  others AS (
    SELECT a.account_id, s.id, s.kind, sum(e.amount)::bigint AS net, s.effective_at, s.charge_id, s.linked_id
    FROM scope s JOIN ledger_entries e ON e.transaction_id = s.id
    JOIN ledger_accounts a ON a.id = e.ledger_account_id AND a.account_id IS NOT NULL
    LEFT JOIN lot_cursors c ON c.account_id = a.account_id
    WHERE s.kind <> 'settle' AND a.code ~ ':(main|held)$' AND ${isDue}
    GROUP BY a.account_id, s.id, s.kind, s.effective_at, s.charge_id, s.linked_id),
  told AS (
    SELECT account_id, id, kind, purpose, net, effective_at, day, NULL AS charge_id, NULL::bigint AS linked_id FROM settled
    UNION ALL SELECT account_id, id, kind, NULL, net, effective_at, NULL, charge_id, linked_id FROM others),
  marked AS (
    SELECT *, $3::text[] IS NOT NULL OR kind <> 'settle' OR purpose IS DISTINCT FROM lag(purpose) OVER w
      OR day IS DISTINCT FROM lag(day) OVER w AS begins
    FROM told WHERE $4::text[] IS NULL OR account_id = ANY ($4)
    WINDOW w AS (PARTITION BY account_id ORDER BY id)),
  numbered AS (
    SELECT *, count(*) FILTER (WHERE begins) OVER (PARTITION BY account_id ORDER BY id ROWS UNBOUNDED PRECEDING) AS run
    FROM marked)
  SELECT account_id AS "accountId", min(id)::text AS "firstId", max(id)::text AS id, count(*)::int AS count,
    min(kind) AS kind, min(purpose) AS purpose, sum(net)::text AS net, min(charge_id) AS "chargeId",
    min(linked_id)::text AS "linkedId",
    ${isoText('least(max(effective_at), clock_timestamp())')} AS "effectiveAt"
  FROM numbered GROUP BY account_id, run ORDER BY account_id, max(id)`;

async function readMoves(
  client: pg.ClientBase,
  scope: LotScope,
  oneByOne: readonly string[] | null,
): Promise<Move[]> {
  const ledgerIds = await usageLedgerIds(client);
  const usage = [[...ledgerIds.keys()], [...ledgerIds.values()]];
  const { rows } =
    'account' in scope
      ? await client.query<MoveRow>(movesOf(OF_ACCOUNT, BEYOND_CURSOR), [
          [scope.account.ledgerIds.main, scope.account.ledgerIds.held],
          ...[scope.after, oneByOne, [scope.account.accountId], ...usage],
        ])
      : await client.query<MoveRow>(movesOf(RANGE, `${BEYOND_CURSOR} AND c.stuck IS NULL`), [
          ...[scope.after, scope.through, oneByOne, oneByOne, ...usage],
        ]);
  return rows.map((row) => ({
    ...row,
    firstId: BigInt(row.firstId),
    id: BigInt(row.id),
    net: BigInt(row.net),
    linkedId: row.linkedId === null ? null : BigInt(row.linkedId),
  }));
}

type MoveRow = Omit<Move, 'firstId' | 'id' | 'net' | 'linkedId'> &
  Record<'firstId' | 'id' | 'net', string> & { linkedId: string | null };

async function usageLedgerIds(client: pg.ClientBase): Promise<Map<string, string>> {
  const { rows } = await client.query<{ id: string; family: string }>(
    `SELECT id::text, split_part(code, ':', 2) AS family FROM ledger_accounts WHERE code LIKE 'usage:%'`,
  );
  return new Map(rows.map(({ id, family }) => [id, family]));
}

type Cause = Extract<LotEvent, { kind: 'lot' } | { kind: 'change' }>;

/** Lots that came, and credits that left a lot or came back to it, by account and transaction. */
async function readCauses(
  client: pg.ClientBase,
  scope: LotScope,
  oneByOne: readonly string[] | null,
): Promise<Map<string, Cause[]>> {
  const accounts = 'account' in scope ? [scope.account.accountId] : oneByOne;
  const through = 'account' in scope ? null : scope.through;
  const { rows } = await client.query<
    Record<'accountId' | 'transactionId' | 'lotId' | 'credits' | 'paidMinor' | 'effectiveAt', string> & {
      kind: Cause['kind'];
    }
  >(
    `SELECT "accountId", found.kind, "transactionId"::text, "lotId"::text, credits::text, "paidMinor"::text,
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
     ORDER BY "transactionId", place, found.id`,
    [scope.after, through, accounts],
  );
  const causes = new Map<string, Cause[]>();
  for (const { accountId, kind, effectiveAt, ...row } of rows) {
    const id = BigInt(row.transactionId);
    const { lotId, credits, paidMinor } = row;
    const amounts = { lotId: BigInt(lotId), credits: BigInt(credits), paidMinor: BigInt(paidMinor) };
    listOf(causes, causeKey({ accountId, id })).push({ kind, id, effectiveAt, ...amounts });
  }
  return causes;
}

/** Fills in which settlement a refund of a charge gives back, and how much that was. */
async function nameRefundedUses(client: pg.ClientBase, restores: readonly Restore[]): Promise<void> {
  const refunds = restores.filter(({ chargeId }) => chargeId !== null);
  if (refunds.length === 0) return;
  const { rows } = await client.query<
    { reference: string; purpose: LotPurpose } & Record<'id' | 'credits', string>
  >(
    `SELECT t.reference, t.id::text, split_part(a.code, ':', 2) AS purpose, e.amount::text AS credits
     FROM ledger_transactions t JOIN ledger_entries e ON e.transaction_id = t.id
     JOIN ledger_accounts a ON a.id = e.ledger_account_id
     WHERE t.reference = ANY ($1) AND a.code LIKE 'usage:%'`,
    [refunds.map(({ chargeId }) => chargeReference(chargeId ?? '', 'resolve'))],
  );
  const settlements = new Map(rows.map((row) => [row.reference, row]));
  for (const { chargeId, event } of refunds) {
    const settlement = settlements.get(chargeReference(chargeId ?? '', 'resolve'));
    if (!settlement) continue;
    const { id, purpose, credits } = settlement;
    Object.assign(event, { useId: BigInt(id), purpose, useCredits: BigInt(credits) });
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
    ...{
      accountId,
      cursor: cursors.get(accountId) ?? null,
      events: own,
      lots: lots.get(accountId) ?? [],
      unmet: unmet.get(accountId) ?? [],
    },
    earlier: (useId, purpose) => earlier.get(`${accountId} ${purpose} ${useId}`) ?? [],
  }));
}

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
  const { rows } = await client.query<
    { key: string } & Record<'lotId' | 'firstUseId' | 'lastUseId' | 'credits', string>
  >(
    `SELECT r.key, u.lot_id::text AS "lotId", u.first_use_id::text AS "firstUseId", u.last_use_id::text AS "lastUseId",
       u.credits::text
     FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[]) AS r (key, account_id, purpose, use_id)
     CROSS JOIN LATERAL (
       SELECT * FROM lot_uses e
       WHERE e.account_id = r.account_id AND e.purpose = r.purpose AND e.last_use_id = r.use_id
       UNION ALL
       (SELECT * FROM (SELECT * FROM lot_uses e
          WHERE e.account_id = r.account_id AND e.purpose = r.purpose AND e.last_use_id > r.use_id
            AND e.first_use_id < e.last_use_id ORDER BY e.last_use_id LIMIT 1) AS row
        WHERE row.first_use_id <= r.use_id)) AS u
     ORDER BY u.id`,
    [
      keys,
      parts.map(([accountId]) => accountId),
      parts.map(([, purpose]) => purpose),
      parts.map(([, , id]) => id),
    ],
  );
  for (const { key, lotId, firstUseId, lastUseId, credits } of rows) {
    const use = { lotId: BigInt(lotId), credits: BigInt(credits) };
    listOf(found, key).push({ ...use, firstUseId: BigInt(firstUseId), lastUseId: BigInt(lastUseId) });
  }
  return found;
}

function keyOf(accountId: string, { purpose, useId }: RestoreEvent): string {
  return `${accountId} ${purpose} ${useId}`;
}

/** Lots that have something unused, and those that are named; the others say nothing about what comes. */
async function readStates(
  client: pg.ClientBase,
  accountIds: readonly string[],
  named: readonly bigint[],
): Promise<Map<string, LotState[]>> {
  const { rows } = await client.query<StateRow>(
    `${LOT_STATES} WHERE (s.account_id = ANY ($1) AND s.used < s.credits) OR s.lot_id = ANY ($2::bigint[])
     ORDER BY s.lot_id`,
    [accountIds, named],
  );
  const states = new Map<string, LotState[]>();
  for (const row of rows) listOf(states, row.accountId).push(toLotState(row));
  return states;
}

export const LOT_STATES = `SELECT s.account_id AS "accountId", s.lot_id::text AS "lotId", s.credits::text,
    s.paid_minor::text AS "paidMinor", s.used::text, s.recognised_minor::text AS "recognisedMinor",
    s.last_purpose AS "lastPurpose" FROM lot_states s`;

export type StateRow = Record<
  'accountId' | 'lotId' | 'credits' | 'paidMinor' | 'used' | 'recognisedMinor',
  string
> & {
  lastPurpose: LotPurpose | null;
};

export function toLotState(row: StateRow): LotState {
  return {
    lotId: BigInt(row.lotId),
    credits: BigInt(row.credits),
    paidMinor: BigInt(row.paidMinor),
    used: BigInt(row.used),
    recognisedMinor: BigInt(row.recognisedMinor),
    lastPurpose: row.lastPurpose,
  };
}

export async function readCursors(
  client: pg.ClientBase,
  accountIds: readonly string[],
  lock: '' | 'FOR UPDATE' = '',
): Promise<Map<string, bigint>> {
  const { rows } = await client.query<{ accountId: string; throughId: string }>(
    `SELECT account_id AS "accountId", through_id::text AS "throughId" FROM lot_cursors
     WHERE account_id = ANY ($1) ORDER BY account_id ${lock}`,
    [accountIds],
  );
  return new Map(rows.map(({ accountId, throughId }) => [accountId, BigInt(throughId)]));
}

async function readUnmet(
  client: pg.ClientBase,
  accountIds: readonly string[],
): Promise<Map<string, UnmetUse[]>> {
  const { rows } = await client.query<
    { accountId: string; purpose: LotPurpose } & Record<'useId' | 'credits' | 'effectiveAt', string>
  >(
    `SELECT account_id AS "accountId", use_id::text AS "useId", purpose, credits::text,
       ${isoText('effective_at')} AS "effectiveAt" FROM lot_unmet
     WHERE account_id = ANY ($1) ORDER BY account_id, use_id`,
    [accountIds],
  );
  const unmet = new Map<string, UnmetUse[]>();
  for (const { accountId, useId, purpose, credits, effectiveAt } of rows)
    listOf(unmet, accountId).push({ useId: BigInt(useId), purpose, credits: BigInt(credits), effectiveAt });
  return unmet;
}

function causeKey({ accountId, id }: Pick<Move, 'accountId' | 'id'>): string {
  return `${accountId} ${id}`;
}

function listOf<K, V>(map: Map<K, V[]>, key: K): V[] {
  let list = map.get(key);
  if (!list) map.set(key, (list = []));
  return list;
}
