import type pg from 'pg';
import { outboxInsert, outboxRow } from '#bus/outbox.js';
import { topics } from '#bus/topics.js';
import { inTransaction } from '#database/database.js';
import { formatAmount, formatDecimal, type Nanos, nanos, parseDecimal } from '#money/amount.js';
import { newId } from '#platform/ids.js';
import type { TopupRate } from '#topup/conversion.js';

export interface TopupRequest {
  accountId: string;
  provider: 'sandbox' | 'manual';
  /** The provider's own id of the payment; it is credited once, for ever. */
  paymentId: string;
  credits: Nanos;
  /** Minor units of the payment currency that were paid; all of them are deferred revenue. */
  paidMinor: bigint;
  rate: TopupRate;
  /** ISO 4217. */
  currency: string;
}

export interface TopupResult {
  topupId: string;
  /** False when the same payment had been recorded before. */
  created: boolean;
  credits: Nanos;
  /** Main balance afterwards. */
  balance: Nanos;
}

/** The payment id was recorded before with another account, amount or rate. Nothing was written. */
export class TopupConflict extends Error {
  constructor(provider: string, paymentId: string) {
    super(`Payment ${paymentId} of ${provider} is already recorded with other details.`);
    this.name = 'TopupConflict';
  }
}

export class UnknownAccount extends Error {
  constructor(accountId: string) {
    super(`There is no account ${accountId}.`);
    this.name = 'UnknownAccount';
  }
}

/**
 * Credits a payment once: Dr issued:credit / Cr main, Dr psp / Cr deferred-revenue, and a lot that keeps what was paid
 * (money.md 3). The same payment again gives the same answer.
 * @throws TopupConflict, UnknownAccount
 */
export async function recordTopup(pool: pg.Pool, request: TopupRequest): Promise<TopupResult> {
  return inTransaction(pool, async (client) => {
    const locked = await lockBalance(client, request.accountId);
    const existing = await findTopup(client, request);
    if (existing) return { ...existing, created: false, balance: locked.main };
    const balance = nanos(locked.main + request.credits);
    const transactionId = await postTopup(client, request, { ...locked, balance });
    const topupId = newId();
    const { rows } = await client.query<{ recordedAt: Date }>(
      `INSERT INTO topups (id, account_id, provider, payment_id, credits, paid_minor, currency, rate, transaction_id)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) RETURNING recorded_at AS "recordedAt"`,
      [
        topupId,
        request.accountId,
        request.provider,
        request.paymentId,
        request.credits,
        request.paidMinor,
        request.currency,
        request.rate,
        transactionId,
      ],
    );
    await client.query(
      `INSERT INTO credit_lots (account_id, transaction_id, topup_id, credits, paid_minor) VALUES ($1, $2, $3, $4, $5)`,
      [request.accountId, transactionId, topupId, request.credits, request.paidMinor],
    );
    const { accountId, provider, credits } = request;
    const credited = {
      topupId,
      accountId,
      provider,
      credits: formatAmount(credits),
      balance: formatAmount(balance),
      creditedAt: (rows[0]?.recordedAt ?? new Date()).toISOString(),
    };
    await client.query(outboxInsert('billing', [outboxRow(topics.topupCredited, credited)]));
    return { topupId, created: true, credits, balance };
  });
}

async function lockBalance(
  client: pg.ClientBase,
  accountId: string,
): Promise<{ main: Nanos; mainLedgerId: string }> {
  const { rows } = await client.query<{ main: string; mainLedgerId: string }>(
    `SELECT main::text, main_ledger_id::text AS "mainLedgerId" FROM customer_balances WHERE account_id = $1 FOR UPDATE`,
    [accountId],
  );
  const row = rows[0];
  if (!row) throw new UnknownAccount(accountId);
  return { main: nanos(BigInt(row.main)), mainLedgerId: row.mainLedgerId };
}

async function findTopup(
  client: pg.ClientBase,
  request: TopupRequest,
): Promise<{ topupId: string; credits: Nanos } | null> {
  const { rows } = await client.query<{
    id: string;
    accountId: string;
    credits: string;
    paidMinor: string;
    currency: string;
    rate: string;
  }>(
    `SELECT id, account_id AS "accountId", credits::text, paid_minor::text AS "paidMinor", currency, trim_scale(rate)::text AS rate
     FROM topups WHERE provider = $1 AND payment_id = $2`,
    [request.provider, request.paymentId],
  );
  const row = rows[0];
  if (!row) return null;
  const same =
    row.accountId === request.accountId &&
    BigInt(row.credits) === request.credits &&
    BigInt(row.paidMinor) === request.paidMinor &&
    row.currency === request.currency &&
    row.rate === formatDecimal(parseDecimal(request.rate));
  if (!same) throw new TopupConflict(request.provider, request.paymentId);
  return { topupId: row.id, credits: request.credits };
}

/** One transaction of both commodities, in one statement so that the ledger's zero-sum guard sees it whole. */
async function postTopup(
  client: pg.ClientBase,
  request: TopupRequest,
  account: { mainLedgerId: string; balance: Nanos },
): Promise<bigint> {
  const block = await client.query<{ id: string }>(`SELECT nextval('ledger_transaction_blocks')::text AS id`);
  const transactionId = BigInt(block.rows[0]?.id ?? 0);
  await client.query(`UPDATE customer_balances SET main = $2 WHERE account_id = $1`, [
    request.accountId,
    account.balance,
  ]);
  await client.query(
    `INSERT INTO ledger_transactions (id, kind, reference, account_id, effective_at) VALUES ($1, 'topup', $2, $3, clock_timestamp())`,
    [transactionId, `topup:${request.provider}:${request.paymentId}`, request.accountId],
  );
  await client.query(
    `INSERT INTO ledger_entries (transaction_id, ordinal, commodity, ledger_account_id, amount, balance_after)
     VALUES
       ($1, 0, 'CRD', (SELECT id FROM ledger_accounts WHERE code = 'issued:credit'), -$2::bigint, NULL),
       ($1, 1, 'CRD', $3, $2, $4),
       ($1, 2, 'PAY', (SELECT id FROM ledger_accounts WHERE code = $5), -$6::bigint, NULL),
       ($1, 3, 'PAY', (SELECT id FROM ledger_accounts WHERE code = 'deferred-revenue'), $6, NULL)`,
    [
      transactionId,
      request.credits,
      account.mainLedgerId,
      account.balance,
      `psp:${request.provider}`,
      request.paidMinor,
    ],
  );
  return transactionId;
}
