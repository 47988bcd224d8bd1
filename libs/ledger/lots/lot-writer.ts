import type pg from 'pg';
import type { AccountEvents } from './lot-events.js';
import { dayOf, type LotPurpose, type LotUse } from './lot.js';
import { LotPlayer } from './lot-player.js';
import { type Movement, post } from '../postings/posting.js';

export interface AccountPlay {
  readonly accountId: string;
  readonly player: LotPlayer;
  /** Up to which ledger transaction. */
  readonly throughId: bigint;
}

/** Plays the events of an account. @throws RowStraddles, LotsBroken */
export function playAccount({ events, lots, unmet, earlier }: AccountEvents): LotPlayer {
  const player = new LotPlayer(lots, unmet, earlier);
  player.play(events);
  return player;
}

/**
 * Stores plays and posts what they recognise, one transaction for each UTC day: Dr deferred-revenue / Cr revenue:{family},
 * expense:chargeback-loss for what covered debts. The accounts' cursors are locked. Part of the caller's transaction, so that
 * all of it is there or none.
 * @param reference begins the references of the postings, and belongs to this batch alone
 */
export async function writePlays(
  client: pg.ClientBase,
  plays: readonly AccountPlay[],
  reference: string,
): Promise<void> {
  const uses = plays.flatMap(({ accountId, player }) => player.uses.map((use) => ({ accountId, use })));
  const postings = await postRecognition(
    client,
    uses.map(({ use }) => use),
    reference,
  );
  await storeUses(client, uses, postings);
  await storeDaySums(client, uses, postings);
  await storeStates(client, plays);
  await storeUnmet(client, plays);
  await client.query(
    `UPDATE lot_cursors c SET through_id = p.through_id FROM unnest($1::text[], $2::bigint[]) AS p (account_id, through_id)
     WHERE c.account_id = p.account_id`,
    [plays.map(({ accountId }) => accountId), plays.map(({ throughId }) => throughId)],
  );
}

/** @returns the posting of each UTC day that has one */
async function postRecognition(
  client: pg.ClientBase,
  uses: readonly LotUse[],
  reference: string,
): Promise<Map<string, bigint>> {
  const postings = new Map<string, bigint>();
  for (const [day, { last, sums }] of [...usesByDay(uses)].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const movements = [...sums].map(([purpose, amount]) => revenue(purpose, amount));
    const total = movements.reduce((sum, { amount }) => sum + amount, 0n);
    if (movements.every(({ amount }) => amount === 0n)) continue;
    const posting = {
      kind: 'recognition' as const,
      reference: `${reference}:${day}`,
      accountId: null,
      effectiveAt: last,
    };
    const deferred = { code: 'deferred-revenue', commodity: 'PAY' as const, amount: -total };
    postings.set(day, await post(client, { ...posting, movements: [deferred, ...movements] }));
  }
  return postings;
}

interface UsedDay {
  /** The latest effective time of the day's uses. */
  last: string;
  sums: Map<LotPurpose, bigint>;
}

function usesByDay(uses: readonly LotUse[]): Map<string, UsedDay> {
  const days = new Map<string, UsedDay>();
  for (const { effectiveAt, purpose, minor } of uses) {
    if (minor === 0n) continue;
    let day = days.get(dayOf(effectiveAt));
    if (!day) days.set(dayOf(effectiveAt), (day = { last: effectiveAt, sums: new Map() }));
    if (effectiveAt > day.last) day.last = effectiveAt;
    day.sums.set(purpose, (day.sums.get(purpose) ?? 0n) + minor);
  }
  return days;
}

/** The account for the payment of credits used for a purpose. */
function revenueCode(purpose: LotPurpose): string {
  return purpose === 'debt' ? 'expense:chargeback-loss' : `revenue:${purpose}`;
}

function revenue(purpose: LotPurpose, amount: bigint): Movement {
  return { code: revenueCode(purpose), commodity: 'PAY', amount };
}

const INSERT_USES = `INSERT INTO lot_uses (account_id, lot_id, first_use_id, last_use_id, purpose, credits, minor, at_id, effective_at,
    recognition_id)
  SELECT account_id, lot_id, first_use_id, last_use_id, purpose, credits, minor, at_id, effective_at, recognition_id
  FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[], $5::text[], $6::bigint[], $7::bigint[], $8::bigint[],
      $9::timestamptz[], $10::bigint[]) WITH ORDINALITY
    AS u (account_id, lot_id, first_use_id, last_use_id, purpose, credits, minor, at_id, effective_at, recognition_id, place)
  ORDER BY place`;

async function storeUses(
  client: pg.ClientBase,
  uses: readonly { accountId: string; use: LotUse }[],
  postings: ReadonlyMap<string, bigint>,
): Promise<void> {
  if (uses.length === 0) return;
  await client.query(INSERT_USES, [
    uses.map(({ accountId }) => accountId),
    uses.map(({ use }) => use.lotId),
    uses.map(({ use }) => use.firstUseId),
    uses.map(({ use }) => use.lastUseId),
    uses.map(({ use }) => use.purpose),
    uses.map(({ use }) => use.credits),
    uses.map(({ use }) => use.minor),
    uses.map(({ use }) => use.atId),
    uses.map(({ use }) => use.effectiveAt),
    uses.map(({ use }) => recognitionOf(use, postings)),
  ]);
}

function recognitionOf({ minor, effectiveAt }: LotUse, postings: ReadonlyMap<string, bigint>): bigint | null {
  return minor === 0n ? null : (postings.get(dayOf(effectiveAt)) ?? null);
}

/** Separate rows, because writers sharing one row per day would wait for each other. */
async function storeDaySums(
  client: pg.ClientBase,
  uses: readonly { use: LotUse }[],
  postings: ReadonlyMap<string, bigint>,
): Promise<void> {
  const credits = new Map<string, bigint>();
  const minor = new Map<bigint, bigint>();
  for (const { use } of uses) {
    const day = dayOf(use.effectiveAt);
    credits.set(day, (credits.get(day) ?? 0n) + use.credits);
    const posting = recognitionOf(use, postings);
    if (posting !== null) minor.set(posting, (minor.get(posting) ?? 0n) + use.minor);
  }
  if (credits.size === 0) return;
  await client.query(
    `INSERT INTO lot_day_sums (day, credits, minor)
     SELECT day, sum(credits), sum(minor) FROM (
       SELECT day, credits, 0 AS minor FROM unnest($1::date[], $2::numeric[]) AS c (day, credits)
       UNION ALL SELECT (t.effective_at AT TIME ZONE 'UTC')::date, 0, m.minor
         FROM unnest($3::bigint[], $4::numeric[]) AS m (id, minor) JOIN ledger_transactions t ON t.id = m.id) AS sums
     GROUP BY day`,
    [[...credits.keys()], [...credits.values()], [...minor.keys()], [...minor.values()]],
  );
}

async function storeStates(client: pg.ClientBase, plays: readonly AccountPlay[]): Promise<void> {
  const lots = plays.flatMap(({ accountId, player }) =>
    [...player.touched].map((lot) => ({ accountId, ...lot })),
  );
  if (lots.length === 0) return;
  await client.query(
    `INSERT INTO lot_states AS s (account_id, lot_id, credits, paid_minor, used, recognised_minor, last_purpose)
     SELECT * FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::text[])
     ON CONFLICT (lot_id) DO UPDATE SET credits = excluded.credits, paid_minor = excluded.paid_minor, used = excluded.used,
       recognised_minor = excluded.recognised_minor, last_purpose = excluded.last_purpose`,
    [
      lots.map(({ accountId }) => accountId),
      lots.map(({ lotId }) => lotId),
      lots.map(({ credits }) => credits),
      lots.map(({ paidMinor }) => paidMinor),
      lots.map(({ used }) => used),
      lots.map(({ recognisedMinor }) => recognisedMinor),
      lots.map(({ lastPurpose }) => lastPurpose),
    ],
  );
}

async function storeUnmet(client: pg.ClientBase, plays: readonly AccountPlay[]): Promise<void> {
  const unmet = plays.flatMap(({ accountId, player }) => player.unmet.map((use) => ({ accountId, ...use })));
  await client.query('DELETE FROM lot_unmet WHERE account_id = ANY ($1)', [
    plays.map(({ accountId }) => accountId),
  ]);
  if (unmet.length === 0) return;
  await client.query(
    `INSERT INTO lot_unmet (account_id, use_id, purpose, credits, effective_at)
     SELECT * FROM unnest($1::text[], $2::bigint[], $3::text[], $4::bigint[], $5::timestamptz[])`,
    [
      unmet.map(({ accountId }) => accountId),
      unmet.map(({ useId }) => useId),
      unmet.map(({ purpose }) => purpose),
      unmet.map(({ credits }) => credits),
      unmet.map(({ effectiveAt }) => effectiveAt),
    ],
  );
}
