import { Controller } from '@nestjs/common';
import { Handles } from '#bus/handles.decorator.js';
import { BalanceLow } from '#bus/payloads.js';
import { groups, topics } from '#bus/topics.js';
import { emailsOfAccount } from '#identity/account.store.js';
import { isWithinDaily } from '#identity/daily-limits.js';
import { queueMail } from '#mail/mail.outbox.js';
import { MailSender } from '#mail/mail.sender.js';
import { Using } from '#platform/wiring.js';
import { POOL } from '../control-plane.tokens.js';

/** Informs owners by mail that their balance is low: once for each event, however often it comes. */
@Controller()
export class LowBalanceController extends Using({ pool: POOL, mail: MailSender }) {
  @Handles(topics.balanceLow, groups.controlPlane)
  async balanceLow({ alertId, accountId, balance, threshold }: BalanceLow): Promise<void> {
    const [to] = await emailsOfAccount(this.pool, accountId);
    if (to === undefined) return;
    // A new alert level makes the next call below it worth a mail again, and can be set at will.
    if (!(await isWithinDaily(this.pool, accountId, 'mails about a low balance'))) return;
    const details = { balance, threshold };
    const event = `balance.low:${alertId}`;
    await queueMail(this.pool, { template: 'low_balance', to, details, event });
    this.mail.wake();
  }
}
