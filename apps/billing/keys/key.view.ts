import type { z } from 'zod';
import { viewAmount } from '../http/fields.js';
import type { KeyWithSpend } from './key.desk.js';
import type { keyView } from './key.routes.js';

export function viewKey(key: KeyWithSpend): z.input<typeof keyView> {
  const { id, name, prefix, group, allowedModels, allowedIps, requestsPerMinute, maxRunningTasks } = key;
  return {
    ...{ keyId: id, name, prefix, group, allowedModels, allowedIps, requestsPerMinute, maxRunningTasks },
    totalLimit: key.totalLimit === null ? null : viewAmount(key.totalLimit),
    monthlyLimit: key.monthlyLimit === null ? null : viewAmount(key.monthlyLimit),
    spent: viewAmount(key.spent),
    spentThisMonth: viewAmount(key.spentThisMonth),
    expiresAt: key.expiresAt?.toISOString() ?? null,
    lastUsedAt: key.lastUsedAt?.toISOString() ?? null,
    createdAt: key.createdAt.toISOString(),
  };
}
