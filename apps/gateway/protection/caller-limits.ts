import type { Caller, Limits } from '#identity/key-authenticator.js';

/** The defaults for keys and accounts without their own limits. */
export interface DefaultLimits {
  readonly key: RequestLimits;
  readonly account: RequestLimits;
}

type RequestLimits = Pick<{ [Name in keyof Limits]: number }, 'requestsPerMinute' | 'concurrentRequests'>;

/** What a minute is divided into. By default neither tokens nor images are limited. */
export type PerMinute = 'requestsPerMinute' | 'tokensPerMinute' | 'imagesPerMinute';

/** A limit that a request counts against. */
export interface RequestLimit {
  /** `key …`, `group … account …` or `account …`. */
  readonly subject: string;
  readonly most: number;
}

/**
 * The limits of a caller, all of which apply: those of its key, of accounts in its group, and of its account. Defaults apply
 * where nothing was set: that of an account unless it or its group has a limit, and that of a key unless any of the three has.
 * So an operator raises a limit by setting it in one place, and a customer, who sets limits of keys, cannot raise that of the
 * account.
 */
export function callerLimits(
  { keyId, accountId, group, limits }: Caller,
  name: PerMinute | 'concurrentRequests',
  defaults: DefaultLimits,
): RequestLimit[] {
  const ofKey = limits?.key[name] ?? null;
  const ofGroup = limits?.group[name] ?? null;
  const ofAccount = limits?.account[name] ?? null;
  const isSet = ofGroup !== null || ofAccount !== null;
  const byDefault = (of: RequestLimits) => (isSet ? null : ((of as Partial<Limits>)[name] ?? null));
  const most: [subject: string, most: number | null][] = [
    [`key ${keyId}`, ofKey ?? byDefault(defaults.key)],
    [`group ${group} account ${accountId}`, ofGroup],
    [`account ${accountId}`, ofAccount ?? byDefault(defaults.account)],
  ];
  return most.flatMap(([subject, limit]) => (limit === null ? [] : [{ subject, most: limit }]));
}
