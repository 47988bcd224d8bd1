import type { Shape } from '../../api/client.js';
import { changedIn } from '../../ui/forms/changed.js';
import { enteredTime, localMinute } from '../../ui/time/minute.js';

/** Empty fields are no limits. */
export type RuleValues = {
  name: string;
  group: string;
  /** In the viewer's time zone, such as 2026-01-31T09:00. */
  expiresAt: string;
  monthlyLimit: string;
  totalLimit: string;
  allowedModels: string[];
  fallbackModels: string[];
  allowedIps: string[];
  requestsPerMinute: string | number;
  tokensPerMinute: string | number;
  imagesPerMinute: string | number;
  maxRunningTasks: string | number;
};

/** The values of a key; without one, of a new key. */
export function ruleValues(token: Shape<'Key'> | null): RuleValues {
  return {
    name: token?.name ?? '',
    group: token?.group ?? '',
    expiresAt: token?.expiresAt ? localMinute(new Date(token.expiresAt)) : '',
    monthlyLimit: token?.monthlyLimit ?? '',
    totalLimit: token?.totalLimit ?? '',
    allowedModels: token?.allowedModels ?? [],
    fallbackModels: token?.fallbackModels ?? [],
    allowedIps: token?.allowedIps ?? [],
    requestsPerMinute: token?.requestsPerMinute ?? '',
    tokensPerMinute: token?.tokensPerMinute ?? '',
    imagesPerMinute: token?.imagesPerMinute ?? '',
    maxRunningTasks: token?.maxRunningTasks ?? '',
  };
}

/** In the server's form; null: no limit. */
export function rulesOf(values: RuleValues) {
  return {
    name: values.name.trim(),
    expiresAt: enteredTime(values.expiresAt),
    monthlyLimit: values.monthlyLimit.trim() || null,
    totalLimit: values.totalLimit.trim() || null,
    allowedModels: values.allowedModels.length === 0 ? null : values.allowedModels,
    fallbackModels: values.fallbackModels.length === 0 ? null : values.fallbackModels,
    allowedIps: values.allowedIps.length === 0 ? null : values.allowedIps,
    requestsPerMinute: numberOf(values.requestsPerMinute),
    tokensPerMinute: numberOf(values.tokensPerMinute),
    imagesPerMinute: numberOf(values.imagesPerMinute),
    maxRunningTasks: numberOf(values.maxRunningTasks),
  };
}

/** Sends only changed rules: an expiry in the past would be refused. */
export function changedRules(before: RuleValues, after: RuleValues) {
  return changedIn(rulesOf(before), rulesOf(after));
}

function numberOf(value: string | number): number | null {
  return value === '' ? null : Number(value);
}
