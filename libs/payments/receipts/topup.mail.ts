import type pg from 'pg';
import { queueMail } from '#mail/mail.outbox.js';
import { formatAmount, nanos } from '#money/amount.js';
import { moneyText } from '#money/currency.js';

/** Mails an account's people what was credited and paid. A repeat queues nothing, so each gets one mail per top-up. */
export async function mailTopup(pool: pg.Pool, topupId: string): Promise<void> {
  const { rows } = await pool.query<{
    email: string;
    userId: string;
    credits: bigint;
    paidMinor: bigint;
    currency: string;
    orderId: string | null;
  }>(
    `SELECT u.email, u.id AS "userId", p.credits, p.paid_minor AS "paidMinor", p.currency, p.order_id AS "orderId"
     FROM topups p JOIN users u ON u.account_id = p.account_id WHERE p.id = $1 AND u.disabled_at IS NULL`,
    [topupId],
  );
  for (const { email, userId, credits, paidMinor, currency, orderId } of rows) {
    const details = { credits: formatAmount(nanos(credits)), paid: moneyText(paidMinor, currency), orderId };
    await queueMail(pool, { template: 'top_up', to: email, details, event: `topup:${topupId}:${userId}` });
  }
}
