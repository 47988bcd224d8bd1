import type { MailLanguage } from '#identity/mail-language.js';
import type { Actor } from '#identity/role.js';
import type { SecondFactorState } from '#identity/second-factor.js';
import type { ViewedAccount } from '#identity/session.store.js';

export interface CallSession {
  /** While it looks at another account, the actor of routes that answer for it has that account's id. */
  readonly actor: Actor;
  readonly csrfToken: string;
  /** Whose account it looks at, if not its own. */
  readonly view: ViewedAccount | null;
  /** Of its person's mail; null: never chosen. */
  readonly language: MailLanguage | null;
  /** Its person proved a moment ago that it is them. */
  readonly isConfirmed: boolean;
  readonly secondFactor: SecondFactorState;
}

/** The account that a session sees the console of; null: nobody's. */
export function accountSeen(session: CallSession | null): string | null {
  return session?.view?.accountId ?? session?.actor.accountId ?? null;
}
