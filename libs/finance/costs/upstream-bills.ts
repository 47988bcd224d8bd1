import type pg from 'pg';
import { z } from 'zod';
import { inTransaction } from '#database/database.js';
import { audit } from '#identity/audit-log.js';
import { post } from '#ledger/postings/posting.js';
import { formatAmount } from '#money/amount.js';
import { ApiError, invalidField } from '#platform/errors.js';
import { amountView, type RowOf, utcDay } from '#platform/http/fields.js';
import { newId } from '#platform/ids.js';
import { isoInstant } from '#platform/times.js';
import { openUpcAccounts } from './upc-accounts.js';

export interface NewBill {
  channel: string;
  /** The upstream's own number, unique per channel. */
  number: string;
  /** The first billed UTC day, and the day after the last. */
  from: string;
  to: string;
  /** Nanos. Negative for a credit note. */
  amount: bigint;
  actor: string;
  requestId: string;
}

export interface UpstreamBill extends NewBill {
  id: string;
  /** Accrued costs of the billed days that no earlier bill covered. */
  accrued: bigint;
  transactionId: bigint | null;
  recordedAt: Date;
}

export const channelBillsView = z
  .object({
    channel: z.string(),
    accrued: amountView.describe('All recorded costs.'),
    covered: amountView.describe('The part of them covered by bills.'),
    open: amountView.describe('The part not yet covered by bills: the balance of `accrued-upstream`.'),
    billed: amountView,
    difference: amountView.describe('`billed` − `covered`.'),
    bills: z.int(),
    billedTo: utcDay
      .nullable()
      .describe(
        'The day after the last bill, or the start of the first gap between bills in which there were costs.',
      ),
  })
  .meta({ id: 'ChannelBills' });

type ChannelBills = RowOf<typeof channelBillsView>;

type Database = pg.Pool | pg.ClientBase;

const COLUMNS = `id, channel_id AS channel, number, from_day::text AS "from", to_day::text AS "to", amount, accrued, actor,
  request_id AS "requestId", transaction_id AS "transactionId", recorded_at AS "recordedAt"`;

const INSERT = `INSERT INTO upstream_bills (id, channel_id, number, from_day, to_day, amount, accrued, actor, request_id, transaction_id)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) RETURNING ${COLUMNS}`;

/**
 * Books an upstream bill: Dr accrued-upstream with the recorded costs of these days, Cr payable with the bill, and the
 * difference to expense:upstream, on the last of its days. This corrects wrongly recorded costs, which are never changed. Costs
 * of billed days that are recorded after the bill are covered by the next one.
 * @throws ApiError naming the field, or `conflict` for a number or request ID that was used for another bill
 */
export function recordBill(pool: pg.Pool, wanted: NewBill): Promise<UpstreamBill> {
  return inTransaction(pool, async (client) => {
    // In the meantime no costs are recorded and no other bill is booked.
    await client.query('SELECT FROM cost_progress FOR UPDATE');
    const repeated = await findRepeated(client, wanted);
    if (repeated) return repeated;
    await refuseFaults(client, wanted);
    const accrued = await uncovered(client, wanted);
    const id = newId();
    const transactionId = await postBill(client, { ...wanted, id, accrued });
    const { channel, number, from, to, amount, actor, requestId } = wanted;
    const row = [id, channel, number, from, to, amount, accrued, actor, requestId, transactionId];
    const { rows } = await client.query<UpstreamBill>(INSERT, row);
    await audit(client, {
      actor,
      action: 'upstream-bill.recorded',
      subject: `channel:${channel}`,
      requestId,
      after: { number, from, to, amount: formatAmount(amount), accrued: formatAmount(accrued) },
    });
    return rows[0] as UpstreamBill;
  });
}

/** Bills, the newest first. */
export async function listBills(
  database: Database,
  query: { limit: number; beforeId: string | null; channel?: string | null },
): Promise<UpstreamBill[]> {
  const { rows } = await database.query<UpstreamBill>(
    `SELECT ${COLUMNS} FROM upstream_bills
     WHERE ($2::text IS NULL OR id < $2) AND ($3::text IS NULL OR channel_id = $3) ORDER BY id DESC LIMIT $1`,
    [query.limit, query.beforeId, query.channel ?? null],
  );
  return rows;
}

/** The costs and bills of every channel that had either, from ledger accounts and bills. */
export async function billsByChannel(database: Database): Promise<ChannelBills[]> {
  // Sums may exceed int8.
  const { rows } = await database.query<
    Record<'accrued' | 'covered' | 'billed', string> & Pick<ChannelBills, 'channel' | 'bills' | 'billedTo'>
  >(
    `WITH accrued_now AS (
       SELECT substr(a.code, length('accrued-upstream:') + 1) AS channel, sum(e.amount) AS open
       FROM ledger_accounts a JOIN ledger_entries e ON e.ledger_account_id = a.id
       WHERE a.code LIKE 'accrued-upstream:%' GROUP BY 1),
     billed AS (
       SELECT channel_id AS channel, sum(accrued) AS covered, sum(amount) AS billed, count(*)::int AS bills,
         coalesce(min(through) FILTER (WHERE through < next AND EXISTS (SELECT FROM charge_costs k
           WHERE k.channel_id = b.channel_id AND k.day >= b.through AND k.day < b.next AND k.cost > 0)), max(through))::text AS "billedTo"
       FROM (SELECT *, max(to_day) OVER earlier AS through, lead(from_day) OVER earlier AS next FROM upstream_bills
         WINDOW earlier AS (PARTITION BY channel_id ORDER BY from_day, to_day)) b GROUP BY 1)
     SELECT channel, (coalesce(open, 0) + coalesce(covered, 0))::text AS accrued, coalesce(covered, 0)::text AS covered,
       coalesce(billed, 0)::text AS billed, coalesce(bills, 0) AS bills, "billedTo"
     FROM accrued_now FULL JOIN billed USING (channel) ORDER BY channel`,
  );
  return rows.map(({ channel, bills, billedTo, ...sums }) => {
    const [accrued, covered, billed] = [BigInt(sums.accrued), BigInt(sums.covered), BigInt(sums.billed)];
    const [open, difference] = [accrued - covered, billed - covered];
    return { channel, accrued, covered, open, billed, difference, bills, billedTo };
  });
}

async function findRepeated(client: pg.ClientBase, wanted: NewBill): Promise<UpstreamBill | null> {
  const { rows } = await client.query<UpstreamBill>(
    `SELECT ${COLUMNS} FROM upstream_bills
     WHERE (actor = $1 AND request_id = $2) OR (channel_id = $3 AND number = $4)`,
    [wanted.actor, wanted.requestId, wanted.channel, wanted.number],
  );
  const found = rows[0];
  if (!found) return null;
  const { channel, number, from, to, amount } = wanted;
  const isSame =
    rows.length === 1 &&
    [found.channel, found.number, found.from, found.to].join() === [channel, number, from, to].join() &&
    found.amount === amount;
  if (isSame) return found;
  const isNumber = found.channel === channel && found.number === number;
  const [param, words] = isNumber
    ? ['number', 'This number was recorded with other contents.']
    : ['requestId', 'This requestId recorded another bill.'];
  throw new ApiError('conflict', words, { param });
}

async function refuseFaults(client: pg.ClientBase, { channel, from, to }: NewBill): Promise<void> {
  if (from >= to) throw invalidField('to', 'must be after from.');
  const { rows } = await client.query<{ known: boolean; over: boolean; through: string }>(
    `SELECT EXISTS (SELECT FROM channels WHERE id = $1) AS known, through::text,
       through >= $2::timestamp AT TIME ZONE 'UTC' AS over FROM cost_progress`,
    [channel, to],
  );
  if (!rows[0]?.known) throw invalidField('channel', `there is no channel ${channel}.`);
  const { over, through } = rows[0];
  if (over) return;
  const recorded =
    through === '-infinity'
      ? 'no costs are recorded yet'
      : `the costs of these days are recorded through ${isoInstant(through)}`;
  throw invalidField('to', `${recorded}; a bill is for days that are over.`);
}

/** The costs of the days of this bill and of earlier ones, minus what the earlier ones covered. */
async function uncovered(client: pg.ClientBase, { channel, from, to }: NewBill): Promise<bigint> {
  const { rows } = await client.query<{ rest: bigint }>(
    `WITH covered AS (
       SELECT from_day, to_day FROM upstream_bills WHERE channel_id = $1 UNION SELECT $2::date, $3::date)
     SELECT (coalesce((SELECT sum(cost) FROM charge_costs k WHERE k.channel_id = $1
         AND k.day >= (SELECT min(from_day) FROM covered) AND k.day < (SELECT max(to_day) FROM covered)
         AND EXISTS (SELECT FROM covered c WHERE k.day >= c.from_day AND k.day < c.to_day)), 0)
       - coalesce((SELECT sum(accrued) FROM upstream_bills WHERE channel_id = $1), 0))::bigint AS rest`,
    [channel, from, to],
  );
  return rows[0]?.rest ?? 0n;
}

async function postBill(
  client: pg.ClientBase,
  bill: NewBill & { id: string; accrued: bigint },
): Promise<bigint | null> {
  const { id, channel, to, amount, accrued } = bill;
  if (amount === 0n && accrued === 0n) return null;
  await openUpcAccounts(client, [channel]);
  const { rows } = await client.query<{ last: string }>(
    `SELECT ($1::timestamp AT TIME ZONE 'UTC' - interval '1 microsecond')::text AS last`,
    [to],
  );
  return post(client, {
    kind: 'upstream_bill',
    reference: `upstream-bill:${id}`,
    accountId: null,
    effectiveAt: rows[0]?.last ?? null,
    movements: [
      { code: `accrued-upstream:${channel}`, commodity: 'UPC', amount: -accrued },
      { code: `expense:upstream:${channel}`, commodity: 'UPC', amount: accrued - amount },
      { code: `payable:${channel}`, commodity: 'UPC', amount },
    ],
  });
}
