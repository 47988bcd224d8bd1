import type { AttemptLimit } from '#identity/attempts.store.js';
import type { ConfigReader } from '#platform/config.js';

const DAY_MS = 86_400_000;

export function readPeopleConfig(reader: ConfigReader, consoleUrl: string) {
  const windowMs = reader.get('SIGN_IN_WINDOW_SECONDS');
  const limit = (most: number): AttemptLimit => ({ most, windowMs });
  return {
    /** Whether staff must have a second factor. */
    secondFactor: reader.get('SECOND_FACTOR', isLoopback(consoleUrl) ? 'advised' : 'required'),
    /** How long a sign-up link works. */
    signUpLifeMs: reader.get('SIGN_UP_LIFE_SECONDS'),
    /** How long a password reset link works. */
    resetLifeMs: reader.get('PASSWORD_RESET_LIFE_SECONDS'),
    /**
     * The most sign-in attempts per email address and per network address, requests of each kind of mail per email
     * address, and six-digit codes per person.
     */
    limits: {
      signInsPerEmail: limit(reader.get('SIGN_INS_PER_EMAIL')),
      // An office shares an address, and most of its attempts succeed, which does not count.
      signInsPerAddress: limit(reader.get('SIGN_INS_PER_ADDRESS')),
      mailsPerEmail: limit(reader.get('MAILS_PER_EMAIL')),
      mailsPerAddress: limit(reader.get('MAILS_PER_ADDRESS')),
      // Three of a million codes are correct at a time: this many attempts a day find one only within decades.
      codesPerPerson: { ...limit(reader.get('CODES_PER_DAY')), windowMs: DAY_MS },
    },
  };
}

export type PeopleConfig = Readonly<ReturnType<typeof readPeopleConfig>>;

/** Someone who tries out the relay on one machine gets to its pages right away. */
function isLoopback(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { hostname } = new URL(url);
  return /^(localhost|.+\.localhost|127\.[\d.]+|\[::1\])$/.test(hostname);
}
