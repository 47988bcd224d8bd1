import type { MailLanguage } from '#identity/language.js';
import type { Actor } from '#identity/role.js';
import type { SecondFactorState } from '#identity/second-factor.js';
import type { ViewedAccount } from '#identity/session.store.js';

export interface CallSession {
  /** While it looks at another account, the actor of routes that answer for it has that account's id. */
  readonly actor: Actor;
  readonly csrfToken: string;
  /** Whose account it looks at, if not its own. */
  readonly view: ViewedAccount | null;
  /** The language of its person's mail; null: never chosen. */
  readonly language: MailLanguage | null;
  /** Its person has recently proved their identity. */
  readonly isConfirmed: boolean;
  readonly secondFactor: SecondFactorState;
}

/** The account whose console the session views. Null if none. */
export function accountSeen(session: CallSession | null): string | null {
  return session?.view?.accountId ?? session?.actor.accountId ?? null;
}
