import { z } from 'zod';
import { amountView, id, timeView, shown } from '#platform/http/fields.js';

export const accountView = z
  .object({
    accountId: id,
    name: z.string(),
    inviteCode: z.string(),
    createdAt: timeView,
    balance: z.object({
      main: amountView.describe('Credits available to spend. Negative if the account is in debt.'),
      held: amountView.describe('Credits held for calls in progress.'),
      invite: amountView.describe('Reward credits not yet transferred to the main balance.'),
      refundPending: amountView.describe('Credits whose payment is being refunded.'),
    }),
    frozen: z
      .object({
        reason: z.string().describe('`debt`, or the reason given by the person who froze the account.'),
      })
      .nullable()
      .describe('Null if the account is not frozen.'),
    lowBalanceThreshold: amountView.nullable(),
    monthlyLimit: amountView.nullable(),
    spentThisMonth: amountView.describe('Credits held or spent by all keys in the current UTC month.'),
  })
  .meta({ id: 'Account' });

/** An account in a list for staff. */
export const foundAccountView = z
  .object({
    accountId: id,
    name: z.string(),
    email: z.string().nullable(),
    main: amountView,
    frozen: z.boolean(),
    createdAt: timeView,
  })
  .meta({ id: 'FoundAccount' });

export type AccountDetails = z.output<typeof accountView>;

/** An account with its balances, from the database. */
export interface AccountWithBalances {
  accountId: string;
  name: string;
  inviteCode: string;
  createdAt: Date;
  main: bigint;
  held: bigint;
  invite: bigint;
  refundPending: bigint;
  frozen: boolean;
  reason: string | null;
  threshold: bigint | null;
  monthlyLimit: bigint | null;
  spentThisMonth: bigint;
}

export function viewAccount({ frozen, reason, threshold, ...row }: AccountWithBalances): AccountDetails {
  const { main, held, invite, refundPending } = row;
  return shown(accountView, {
    ...row,
    balance: { main, held, invite, refundPending },
    frozen: frozen ? { reason: reason ?? '' } : null,
    lowBalanceThreshold: threshold,
  });
}
