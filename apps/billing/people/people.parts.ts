import { Inject, Injectable } from '@nestjs/common';
import type pg from 'pg';
import { AttemptsStore } from '#identity/attempts.store.js';
import { PasswordHasher } from '#identity/password.hasher.js';
import { passwordFault, serviceNames } from '#identity/password.rules.js';
import { SessionStore } from '#identity/session.store.js';
import type { Clock } from '#platform/clock.js';
import { ApiError } from '#platform/errors.js';
import type { BillingConfig } from '../billing.config.js';
import { CLOCK, CONFIG, POOL } from '../billing.tokens.js';
import { MailSender } from '../mail/mail.sender.js';

/** What everything stands on that lets people in. */
@Injectable()
export class PeopleParts {
  @Inject(POOL) readonly pool!: pg.Pool;
  @Inject(CONFIG) readonly config!: BillingConfig;
  @Inject(CLOCK) readonly clock!: Clock;
  @Inject(AttemptsStore) readonly attempts!: AttemptsStore;
  @Inject(PasswordHasher) readonly hasher!: PasswordHasher;
  @Inject(SessionStore) readonly sessions!: SessionStore;
  @Inject(MailSender) readonly mail!: MailSender;

  /** @throws ApiError invalid_value for a password that others would guess first */
  refuseWeak(password: string, { email, param }: { email: string; param: string }): void {
    const fault = passwordFault(password, { email, names: serviceNames(this.config.consoleUrl) });
    if (fault !== null) throw new ApiError('invalid_value', `${param}: ${fault}.`, { param });
  }
}
