import { Controller } from '@nestjs/common';
import { Handles } from '#bus/handles.decorator.js';
import { BalanceLow } from '#bus/payloads.js';
import { groups, topics } from '#bus/topics.js';
import { MailSender } from '#mail/mail.sender.js';
import { mailLowBalance } from '#people/accounts/low-balance.mail.js';
import { Using } from '#platform/wiring.js';
import { POOL } from '../control-plane.tokens.js';

@Controller()
export class LowBalanceController extends Using({ pool: POOL, mail: MailSender }) {
  @Handles(topics.balanceLow, groups.controlPlane)
  async balanceLow(low: BalanceLow): Promise<void> {
    if (await mailLowBalance(this.pool, low)) this.mail.wake();
  }
}
