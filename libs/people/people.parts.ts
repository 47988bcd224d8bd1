import type pg from 'pg';
import type { AttemptsStore } from '#identity/attempts.store.js';
import type { PasswordHasher } from '#identity/password.hasher.js';
import { networkOf } from '#identity/ip-list.js';
import { passwordFault, serviceNames } from '#identity/password.rules.js';
import type { SessionStore } from '#identity/session.store.js';
import type { Clock } from '#platform/clock.js';
import { ApiError } from '#platform/errors.js';
import type { SecretBox } from '#platform/sealed-secret.js';
import { mailSubject, type RequestedMail } from '#mail/mail.outbox.js';
import type { MailSender } from '#mail/mail.sender.js';
import type { PeopleConfig } from './people.config.js';

/** What all services for signing in need. */
export interface PeopleParts {
  readonly pool: pg.Pool;
  readonly config: {
    readonly people: PeopleConfig;
    readonly secrets: SecretBox;
    readonly consoleUrl: string;
  };
  readonly clock: Clock;
  readonly attempts: AttemptsStore;
  readonly hasher: PasswordHasher;
  readonly sessions: SessionStore;
  readonly mail: Pick<MailSender, 'wake'>;
}

/** @throws ApiError invalid_value for a password that is guessed first */
export function refuseWeak(
  { consoleUrl }: { consoleUrl: string },
  password: string,
  { email, param }: { email: string; param: string },
): void {
  const fault = passwordFault(password, { email, names: serviceNames(consoleUrl) });
  if (fault !== null) throw new ApiError('invalid_value', `${param}: ${fault}.`, { param });
}

/** Counts a request of mail to an address. @throws ApiError too_many_attempts */
export async function countMail(
  { attempts, config }: PeopleParts,
  template: RequestedMail,
  { email, ip }: { email: string; ip: string },
): Promise<void> {
  const { limits } = config.people;
  await attempts.count(
    { subject: `mail address ${networkOf(ip)}`, limit: limits.mailsPerAddress },
    { subject: mailSubject(template, email), limit: limits.mailsPerEmail },
  );
}
