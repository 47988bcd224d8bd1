import type { AttemptLimit } from '#identity/attempts.store.js';
import type { ConfigReader } from '#platform/config.js';

export interface PeopleConfig {
  /** How long the link of a sign-up is good. */
  readonly signUpLifeMs: number;
  /** How long the link of a password reset is good. */
  readonly resetLifeMs: number;
  /** Tries to sign in with one e-mail address, of one network address, and requests for mail to one e-mail address. */
  readonly limits: Record<
    'signInsPerEmail' | 'signInsPerAddress' | 'mailsPerEmail' | 'mailsPerAddress',
    AttemptLimit
  >;
}

const HOUR = 3_600;
const MOST = 1_000_000;

export function readPeopleConfig(reader: ConfigReader): PeopleConfig {
  const windowMs = reader.seconds('SIGN_IN_WINDOW_SECONDS', HOUR / 4);
  const limit = (name: string, fallback: number): AttemptLimit => ({
    most: reader.integer(name, { fallback, min: 1, max: MOST }),
    windowMs,
  });
  return {
    signUpLifeMs: reader.seconds('SIGN_UP_LIFE_SECONDS', 24 * HOUR),
    resetLifeMs: reader.seconds('PASSWORD_RESET_LIFE_SECONDS', HOUR),
    limits: {
      signInsPerEmail: limit('SIGN_INS_PER_EMAIL', 10),
      // An office shares an address, and most of what comes from it succeeds, which does not count.
      signInsPerAddress: limit('SIGN_INS_PER_ADDRESS', 100),
      mailsPerEmail: limit('MAILS_PER_EMAIL', 5),
      mailsPerAddress: limit('MAILS_PER_ADDRESS', 50),
    },
  };
}
