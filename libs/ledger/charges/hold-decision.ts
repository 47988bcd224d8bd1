import type { RefusalCode } from '#bus/payloads.js';
import { isInRanges } from '#identity/ip-list.js';
import { formatAmount, type Nanos } from '#money/amount.js';
import { quote, type Quote } from '#pricing/quote.js';
import type { BatchState, KeyState, LockedBalance } from './batch.js';
import type { HoldCommand, HoldRefusal } from './charge.js';

/** Decides whether to hold credits for a call, and how much. Pure. */
export function decideHold(state: BatchState, command: HoldCommand): Quote | HoldRefusal {
  if (command.expiresAtMs < state.nowMs)
    return reject('expired', 'The request was processed after it had expired.');
  const key = state.keys.get(command.keyId);
  const balance = state.balances.get(command.accountId);
  if (!key || !balance || key.accountId !== command.accountId || key.revoked) {
    return reject('key_revoked', 'The API key has been deleted.');
  }
  const fault = keyFault(key, state, command);
  if (fault) return fault;
  const priced = priceOf(key, state, command);
  if ('code' in priced) return priced;
  return coverFault(key, balance, priced.amount) ?? priced;
}

export function reject(code: RefusalCode, message: string): HoldRefusal {
  return { code, message };
}

function keyFault(
  key: KeyState,
  { nowMs, priceBook }: BatchState,
  { model, clientIp }: HoldCommand,
): HoldRefusal | null {
  if (key.expiresAtMs !== null && key.expiresAtMs <= nowMs)
    return reject('key_expired', 'The API key has expired.');
  if (!key.hasGroup) {
    const instead = 'Use a key of another group, or ask support for access to this one.';
    return reject(
      'group_not_granted',
      `The group ${key.group} is no longer open to this account. ${instead}`,
    );
  }
  if (key.allowedModels && !allows(key.allowedModels, model, priceBook.models.get(model)?.pricedAs)) {
    return reject('model_not_allowed', `The API key may not use model ${model}.`);
  }
  if (key.allowedIps && !isInRanges(key.allowedIps, clientIp ?? null)) {
    return reject('ip_not_allowed', 'The API key cannot be used from this IP address.');
  }
  return null;
}

/** Allowing a model allows its aliases too. Allowing an alias allows only that name. */
function allows(allowed: readonly string[], model: string, pricedAs: string | undefined): boolean {
  return allowed.includes(model) || (pricedAs !== undefined && allowed.includes(pricedAs));
}

/** The current price, which must be the one quoted to the caller. */
function priceOf(key: KeyState, { nowMs, priceBook }: BatchState, command: HoldCommand): Quote | HoldRefusal {
  const { model, group, units, tokens, dimensions = null, quotedVersion = null } = command;
  const wanted = { model, group, units, tokens, dimensions, atMs: nowMs };
  const priced = key.group === group ? quote(priceBook, wanted) : 'model_not_found';
  if (typeof priced === 'string') {
    return reject('model_not_found', `No available channel for model ${model} under group ${group}`);
  }
  // A gateway of the previous version does not say what is requested, and would get the most expensive work at the default price.
  const isUnsaid = priced.ratedBy.length > 0 && dimensions === null;
  // What goes upstream follows the rates of the quote, so they must be the ones that are paid for.
  const isOther = quotedVersion !== null && quotedVersion !== String(priced.priceVersionId);
  if (isUnsaid || isOther || priced.amount !== command.quotedAmount) {
    const refusal = reject('stale_quote', `The price is now ${formatAmount(priced.amount)} credits.`);
    return { ...refusal, pricedAtMs: nowMs };
  }
  return priced;
}

/** What prevents the account or its key from paying that much. */
function coverFault(key: KeyState, balance: LockedBalance, amount: Nanos): HoldRefusal | null {
  if (balance.frozen) return reject('account_frozen', 'The account is frozen. Please contact support.');
  if (key.monthlyLimit !== null && key.spent + amount > key.monthlyLimit) {
    return reject(
      'key_limit_exceeded',
      `The API key's monthly limit is ${formatAmount(key.monthlyLimit)} credits.`,
    );
  }
  if (key.totalLimit !== null && key.totalSpent + amount > key.totalLimit) {
    return reject('key_limit_exceeded', `The API key's limit is ${formatAmount(key.totalLimit)} credits.`);
  }
  if (balance.monthlyLimit !== null && balance.spent + amount > balance.monthlyLimit) {
    return reject(
      'account_limit_exceeded',
      `The account's monthly limit is ${formatAmount(balance.monthlyLimit)} credits.`,
    );
  }
  if (balance.main < amount) {
    return reject(
      'insufficient_user_quota',
      `The request costs ${formatAmount(amount)} credits, but the balance is ${formatAmount(balance.main)}.`,
    );
  }
  return null;
}
