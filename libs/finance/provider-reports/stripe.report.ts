import Stripe from 'stripe';
import type pg from 'pg';
import { inTransaction } from '#database/database.js';
import type { StripeConfig } from '#payments/payments.config.js';
import { openStripe } from '#payments/stripe.client.js';
import {
  addCounts,
  beginReport,
  finishReport,
  type ReportImport,
  insertLines,
  lockProvider,
} from './report.import.js';
import { isPayout, keptText, type ReportLine } from './report-line.js';
import { lineSubject, typeOfCategory } from './stripe-csv.js';

const PAGE = 100;
/** Read again with each import, because the latest entries may not have been listed yet. */
const OVERLAP = '2 hours';
/** The lines of older payouts are no longer requested: they have been reported as missing for a long time. */
const UNLINKED_FOR = '90 days';

export interface StripeFetch {
  /** Movements from this time. Null: from where the last import ended. */
  from: Date | null;
  /** `cli:{login}` or `system`. */
  actor: string;
  signal?: AbortSignal | undefined;
  onProgress?: ((lines: number) => void) | undefined;
}

/**
 * Imports Stripe's list of balance movements page by page: each page is stored as it arrives, and the time counts as covered when
 * all of them are there. Then requests the lines of each new automatic payout. One without an answer does not delay the others, is
 * reported, and is requested again next time. No lock is held during requests. @throws the errors of Stripe's package if it does
 * not list movements
 */
export async function importFromStripe(
  pool: pg.Pool,
  config: StripeConfig,
  { from, actor, signal, onProgress }: StripeFetch,
): Promise<ReportImport> {
  const stripe = openStripe(config);
  const window = await readWindow(pool, from);
  const header = { provider: 'stripe', source: 'api', content: 'all', sha256: null, actor } as const;
  const reportId = await inTransaction(pool, (client) => beginReport(client, header));
  const counts = { lines: 0, added: 0, changed: 0 };
  const keep = async (lines: ReportLine[]) => {
    addCounts(counts, await insertPage(pool, reportId, lines));
    onProgress?.(counts.lines);
  };
  const created = { gte: seconds(window.from), lt: seconds(window.to) };
  for await (const lines of pagesOf(stripe, { created }, signal)) await keep(lines);
  const asked = { from: window.from.toISOString(), to: window.to.toISOString() };
  // The time is covered, whatever happens to the payouts.
  const covers = await finishReport(pool, reportId, { ...counts, covers: asked });
  const missingPayouts = await linkPayouts({ pool, stripe, signal }, keep);
  await finishReport(pool, reportId, { ...counts, covers: asked });
  return { reportId, covers, ...counts, missingPayouts };
}

interface Asking {
  pool: pg.Pool;
  stripe: Stripe;
  signal?: AbortSignal | undefined;
}

/** Those that Stripe could not list are returned, and retried later. */
async function linkPayouts(
  asking: Asking,
  keep: (lines: ReportLine[]) => Promise<void>,
): Promise<{ payoutId: string; reason: string }[]> {
  const missing: { payoutId: string; reason: string }[] = [];
  for (const payoutId of await readUnlinked(asking.pool)) {
    asking.signal?.throwIfAborted();
    try {
      await linkPayout(asking, payoutId, keep);
    } catch (error) {
      if (asking.signal?.aborted || !(error instanceof Stripe.errors.StripeError)) throw error;
      missing.push({ payoutId, reason: error.message });
    }
  }
  return missing;
}

/** Requests the lines of a payout. It is done when all of them are stored, or if it has none. */
async function linkPayout(
  { pool, stripe, signal }: Asking,
  payoutId: string,
  keep: (lines: ReportLine[]) => Promise<void>,
): Promise<void> {
  const { automatic, reconciliation_status } = await stripe.payouts.retrieve(payoutId);
  if (automatic && reconciliation_status !== 'completed') return;
  if (automatic) {
    for await (const lines of pagesOf(stripe, { payout: payoutId }, signal))
      await keep(lines.map((line) => (isPayout(line) ? line : { ...line, payoutId })));
  }
  await pool.query(
    `INSERT INTO provider_payouts (provider, payout_id, automatic) VALUES ('stripe', $1, $2) ON CONFLICT DO NOTHING`,
    [payoutId, automatic],
  );
}

function seconds(time: Date): number {
  return Math.floor(time.getTime() / 1000);
}

/** From the end of the last import, or the day before the first order, to now. */
async function readWindow(pool: pg.Pool, from: Date | null): Promise<{ from: Date; to: Date }> {
  const { rows } = await pool.query<{ from: Date; to: Date }>(
    `SELECT date_trunc('second', coalesce($1::timestamptz,
         (SELECT max(upper(covers)) - $2::interval FROM provider_reports
           WHERE provider = 'stripe' AND source = 'api' AND covers IS NOT NULL),
         (SELECT min(created_at) - interval '1 day' FROM topup_orders WHERE provider = 'stripe'),
         now() - interval '30 days')) AS "from", date_trunc('second', now()) AS "to"`,
    [from, OVERLAP],
  );
  return rows[0] as { from: Date; to: Date };
}

async function readUnlinked(pool: pg.Pool): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>(
    `SELECT DISTINCT l.subject_id AS id FROM provider_report_lines l
     WHERE l.provider = 'stripe' AND l.type = 'payout' AND l.happened_at > now() - $1::interval
       AND NOT EXISTS (SELECT FROM provider_payouts p WHERE p.provider = l.provider AND p.payout_id = l.subject_id)
     ORDER BY 1`,
    [UNLINKED_FOR],
  );
  return rows.map(({ id }) => id);
}

function insertPage(pool: pg.Pool, reportId: string, lines: readonly ReportLine[]) {
  return inTransaction(pool, async (client) => {
    await lockProvider(client, 'stripe');
    return insertLines(client, { reportId, provider: 'stripe' }, lines);
  });
}

async function* pagesOf(
  stripe: Stripe,
  which: Pick<Stripe.BalanceTransactionListParams, 'created' | 'payout'>,
  signal?: AbortSignal,
): AsyncGenerator<ReportLine[]> {
  let after: string | undefined;
  for (;;) {
    signal?.throwIfAborted();
    const { data, has_more } = await stripe.balanceTransactions.list({
      ...which,
      limit: PAGE,
      expand: ['data.source'],
      ...(after === undefined ? {} : { starting_after: after }),
    });
    if (data.length > 0) yield data.map(lineOf);
    after = data.at(-1)?.id;
    if (!has_more || after === undefined) return;
  }
}

function lineOf(moved: Stripe.BalanceTransaction): ReportLine {
  const { id: lineId, source } = moved;
  const type = typeOfCategory(moved.reporting_category);
  const sourceId = typeof source === 'string' ? source : (source?.id ?? null);
  const paymentId = paymentOf(source);
  const isOurs = type === 'fee' || type === 'adjustment';
  return {
    lineId,
    type,
    paymentId,
    payoutId: null,
    amountMinor: BigInt(moved.amount),
    feeMinor: BigInt(moved.fee),
    currency: moved.currency.toUpperCase(),
    happenedAt: new Date(moved.created * 1000).toISOString(),
    availableOn: new Date(moved.available_on * 1000).toISOString().slice(0, 10),
    subjectId: lineSubject({ type, lineId, sourceId, paymentId }) ?? sourceId ?? lineId,
    description: keptText(isOurs ? (moved.description ?? '') : ''),
  };
}

/** The payment of an object, as the object itself says. */
function paymentOf(source: Stripe.BalanceTransaction['source']): string | null {
  if (source === null || typeof source === 'string' || !('payment_intent' in source)) return null;
  const intent = source.payment_intent;
  return typeof intent === 'string' ? intent : (intent?.id ?? null);
}
