import { Controller, Inject } from '@nestjs/common';
import type pg from 'pg';
import { Handles } from '#bus/handles.decorator.js';
import { TopupCredited } from '#bus/payloads.js';
import { groups, topics } from '#bus/topics.js';
import { MailSender } from '#mail/mail.sender.js';
import { mailTopup } from '#payments/receipts/topup.mail.js';
import type { Clock } from '#platform/clock.js';
import { CONTROL_PLANE_CLOCK, POOL } from '../control-plane.tokens.js';

/** Older ones are not announced: a program that reads the topic for the first time finds everything that it still holds. */
const NEWS_MS = 24 * 3_600_000;

/** Mails owners that a top-up was credited: once for each top-up, however often its event comes. */
@Controller()
export class TopupMailController {
  constructor(
    @Inject(POOL) private readonly pool: pg.Pool,
    @Inject(MailSender) private readonly mail: MailSender,
    @Inject(CONTROL_PLANE_CLOCK) private readonly clock: Clock,
  ) {}

  @Handles(topics.topupCredited, groups.controlPlane)
  async credited({ topupId, creditedAt }: TopupCredited): Promise<void> {
    if (this.clock.nowMs() - Date.parse(creditedAt) > NEWS_MS) return;
    await mailTopup(this.pool, topupId);
    this.mail.wake();
  }
}
