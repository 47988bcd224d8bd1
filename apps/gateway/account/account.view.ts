import type { Caller } from '#identity/key-authenticator.js';
import { type AmountText, formatAmount } from '#money/amount.js';
import type { CustomerBalance } from '#ledger/postings/customer-account.js';
import { leftOf, spendableBy, type KeyAllowance, type Spending } from '#usage/key-allowance.js';
import type { UsageDaysQuery, UsageOfDay } from '#usage/usage-days.js';
import { callerLimits, type DefaultLimits } from '../protection/caller-limits.js';

/** Amounts are credits as exact decimal strings, times are Unix seconds, and null means no limit. */
interface SpendingView {
  limit: AmountText | null;
  used: AmountText;
  remaining: AmountText | null;
}

/** A key with its limits and what it can still spend. */
export function callersKeyView(caller: Caller, allowance: KeyAllowance, defaults: DefaultLimits) {
  const { name, prefix, createdAt, expiresAt, total, month, accountMonth } = allowance;
  return {
    object: 'key',
    id: caller.keyId,
    name,
    prefix,
    group: caller.group,
    created_at: unixSeconds(createdAt),
    expires_at: expiresAt && unixSeconds(expiresAt),
    allowed_models: caller.allowedModels ?? null,
    fallback_models: caller.fallbackModels ?? null,
    allowed_ips: caller.allowedIps ?? null,
    limits: limitsView(caller, defaults),
    spending: {
      total: spendingView(total),
      month: spendingView(month),
      account_month: spendingView(accountMonth),
    },
    spendable: formatAmount(spendableBy(allowance)),
  };
}

function limitsView(caller: Caller, defaults: DefaultLimits) {
  return {
    requests_per_minute: leastOf(callerLimits(caller, 'requestsPerMinute', defaults)),
    tokens_per_minute: leastOf(callerLimits(caller, 'tokensPerMinute', defaults)),
    images_per_minute: leastOf(callerLimits(caller, 'imagesPerMinute', defaults)),
    concurrent_requests: leastOf(callerLimits(caller, 'concurrentRequests', defaults)),
  };
}

/** The balances of an account. */
export function creditsView({ main, held, invite, refundPending, frozen }: CustomerBalance) {
  return {
    object: 'credits',
    available: formatAmount(main),
    held: formatAmount(held),
    invite: formatAmount(invite),
    refund_pending: formatAmount(refundPending),
    frozen,
  };
}

/** Usage by day and model, and its sums. */
export function usageListView({ from, to, keyId }: UsageDaysQuery, days: readonly UsageOfDay[]) {
  return {
    object: 'list',
    scope: keyId === null ? 'account' : 'key',
    from,
    to,
    data: days.map(({ day, model, requests, failures, settled }) => {
      return { object: 'usage.day', day, model, requests, failed: failures, amount: formatAmount(settled) };
    }),
    total: {
      requests: days.reduce((sum, { requests }) => sum + requests, 0),
      failed: days.reduce((sum, { failures }) => sum + failures, 0),
      amount: formatAmount(days.reduce((sum, { settled }) => sum + settled, 0n)),
    },
  };
}

export function unixSeconds(at: Date): number {
  return Math.floor(at.getTime() / 1000);
}

function spendingView(spending: Spending): SpendingView {
  const left = leftOf(spending);
  return {
    limit: spending.limit === null ? null : formatAmount(spending.limit),
    used: formatAmount(spending.used),
    remaining: left === null ? null : formatAmount(left),
  };
}

function leastOf(limits: readonly { most: number }[]): number | null {
  return limits.length === 0 ? null : Math.min(...limits.map(({ most }) => most));
}
