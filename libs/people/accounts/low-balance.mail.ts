import type pg from 'pg';
import type { BalanceLow } from '#bus/payloads.js';
import { inTransaction } from '#database/database.js';
import { emailsOfAccount } from '#identity/account.store.js';
import { countDaily, isWithinDaily } from '#identity/daily-limits.js';
import { queueMail } from '#mail/mail.outbox.js';

/**
 * Informs the owner by mail that the balance is low: once for each event, however often it comes. A new alert level makes the
 * next call below it worth a mail again, and can be set at will, so the mails of a day are limited. Queued and counted
 * together, a mail counts once.
 * @returns whether there is a new mail
 */
export async function mailLowBalance(
  pool: pg.Pool,
  { alertId, accountId, balance, threshold }: BalanceLow,
): Promise<boolean> {
  const [to] = await emailsOfAccount(pool, accountId);
  if (to === undefined) return false;
  const mail = { template: 'low_balance', to, details: { balance, threshold } } as const;
  let isNew = false;
  const isWithin = await isWithinDaily(() =>
    inTransaction(pool, async (client) => {
      isNew = await queueMail(client, { ...mail, event: `balance.low:${alertId}` });
      if (isNew) await countDaily(client, accountId, 'mails about a low balance');
    }),
  );
  return isWithin && isNew;
}
