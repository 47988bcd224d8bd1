import { Controller } from '@nestjs/common';
import { Handles } from '#bus/handles.decorator.js';
import { TopupCredited } from '#bus/payloads.js';
import { groups, topics } from '#bus/topics.js';
import { MailSender } from '#mail/mail.sender.js';
import { mailTopup } from '#payments/receipts/topup.mail.js';
import { Using } from '#platform/wiring.js';
import { CONTROL_PLANE_CLOCK, POOL } from '../control-plane.tokens.js';

/** Older ones are not announced: a program that reads the topic for the first time finds everything that it still holds. */
const NEWS_MS = 24 * 3_600_000;

/** Mails owners that a top-up was credited: once for each top-up, however often its event comes. */
@Controller()
export class TopupMailController extends Using({ pool: POOL, mail: MailSender, clock: CONTROL_PLANE_CLOCK }) {
  @Handles(topics.topupCredited, groups.controlPlane)
  async credited({ topupId, creditedAt }: TopupCredited): Promise<void> {
    if (this.clock.nowMs() - Date.parse(creditedAt) > NEWS_MS) return;
    await mailTopup(this.pool, topupId);
    this.mail.wake();
  }
}
