import type { Shape } from '../../api/client.js';
import { localMinute } from '../../ui/time/minute.js';

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

/** The server's form; null: no limit. */
export interface Rules {
  name: string;
  expiresAt: string | null;
  monthlyLimit: string | null;
  totalLimit: string | null;
  allowedModels: string[] | null;
  fallbackModels: string[] | null;
  allowedIps: string[] | null;
  requestsPerMinute: number | null;
  tokensPerMinute: number | null;
  imagesPerMinute: number | null;
  maxRunningTasks: number | null;
}

export const NO_RULES: RuleValues = {
  name: '',
  group: '',
  expiresAt: '',
  monthlyLimit: '',
  totalLimit: '',
  allowedModels: [],
  fallbackModels: [],
  allowedIps: [],
  requestsPerMinute: '',
  tokensPerMinute: '',
  imagesPerMinute: '',
  maxRunningTasks: '',
};

export function ruleValues(token: Shape<'Key'>): RuleValues {
  return {
    name: token.name,
    group: token.group,
    expiresAt: token.expiresAt === null ? '' : localMinute(new Date(token.expiresAt)),
    monthlyLimit: token.monthlyLimit ?? '',
    totalLimit: token.totalLimit ?? '',
    allowedModels: token.allowedModels ?? [],
    fallbackModels: token.fallbackModels ?? [],
    allowedIps: token.allowedIps ?? [],
    requestsPerMinute: token.requestsPerMinute ?? '',
    tokensPerMinute: token.tokensPerMinute ?? '',
    imagesPerMinute: token.imagesPerMinute ?? '',
    maxRunningTasks: token.maxRunningTasks ?? '',
  };
}

export function rulesOf(values: RuleValues): Rules {
  return {
    name: values.name.trim(),
    expiresAt: values.expiresAt === '' ? null : new Date(values.expiresAt).toISOString(),
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
export function changedRules(before: RuleValues, after: RuleValues): Partial<Rules> {
  const [old, all] = [rulesOf(before), rulesOf(after)];
  const names = Object.keys(all) as (keyof Rules)[];
  return Object.fromEntries(
    names
      .filter((name) => JSON.stringify(old[name]) !== JSON.stringify(all[name]))
      .map((name) => [name, all[name]]),
  );
}

function numberOf(value: string | number): number | null {
  return value === '' ? null : Number(value);
}
