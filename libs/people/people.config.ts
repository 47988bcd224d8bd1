import type { AttemptLimit } from '#identity/attempts.store.js';
import type { ConfigReader } from '#platform/config.js';
import type { SecondFactorRule } from '#identity/second-factor.js';

export interface PeopleConfig {
  /** Whether people who work here must have a second factor. */
  readonly secondFactor: SecondFactorRule;
  /** How long the link of a sign-up is good. */
  readonly signUpLifeMs: number;
  /** How long the link of a password reset is good. */
  readonly resetLifeMs: number;
  /**
   * Tries to sign in with one e-mail address, of one network address, requests for mail to one e-mail address, and codes of
   * six digits of one person.
   */
  readonly limits: Record<
    'signInsPerEmail' | 'signInsPerAddress' | 'mailsPerEmail' | 'mailsPerAddress' | 'codesPerPerson',
    AttemptLimit
  >;
}

const HOUR = 3_600;
const MOST = 1_000_000;

export function readPeopleConfig(reader: ConfigReader, consoleUrl: string): PeopleConfig {
  const windowMs = reader.seconds('SIGN_IN_WINDOW_SECONDS', HOUR / 4);
  const limit = (name: string, fallback: number): AttemptLimit => ({
    most: reader.integer(name, { fallback, min: 1, max: MOST }),
    windowMs,
  });
  return {
    secondFactor: reader.choice(
      'SECOND_FACTOR',
      ['required', 'advised'],
      isLoopback(consoleUrl) ? 'advised' : 'required',
    ),
    signUpLifeMs: reader.seconds('SIGN_UP_LIFE_SECONDS', 24 * HOUR),
    resetLifeMs: reader.seconds('PASSWORD_RESET_LIFE_SECONDS', HOUR),
    limits: {
      signInsPerEmail: limit('SIGN_INS_PER_EMAIL', 10),
      // An office shares an address, and most of what comes from it succeeds, which does not count.
      signInsPerAddress: limit('SIGN_INS_PER_ADDRESS', 100),
      mailsPerEmail: limit('MAILS_PER_EMAIL', 5),
      mailsPerAddress: limit('MAILS_PER_ADDRESS', 50),
      // Three of a million are right at a time: so many a day find one within decades.
      codesPerPerson: { ...limit('CODES_PER_DAY', 50), windowMs: 24 * HOUR * 1000 },
    },
  };
}

/** Whoever tries the relay out on one machine gets to its pages at once. */
function isLoopback(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { hostname } = new URL(url);
  return /^(localhost|.+\.localhost|127\.[\d.]+|\[::1\])$/.test(hostname);
}
