import { z } from 'zod';
import { amountView, id, timeView, viewAmount } from '#platform/http/fields.js';

export const accountView = z
  .object({
    accountId: id,
    name: z.string(),
    inviteCode: z.string(),
    createdAt: timeView,
    balance: z.object({
      main: amountView.meta({ description: 'USD that calls can spend; below zero it is a debt.' }),
      held: amountView.meta({ description: 'USD held for calls in progress.' }),
      invite: amountView.meta({ description: 'USD of rewards that were not moved to the main balance.' }),
      refundPending: amountView.meta({ description: 'USD on their way back to where they were paid from.' }),
    }),
    frozen: z
      .object({
        reason: z
          .string()
          .meta({ description: '`debt`, or the reason given by the person who froze the account.' }),
      })
      .nullable()
      .meta({ description: 'Null: the account is not frozen.' }),
    lowBalanceThreshold: amountView.nullable(),
    monthlyLimit: amountView.nullable(),
    spentThisMonth: amountView.meta({ description: 'USD that all keys hold or spent in this UTC month.' }),
  })
  .meta({ id: 'Account' });
export type AccountView = z.output<typeof accountView>;

/** An account with its balances, as the database has them. */
export interface AccountRow {
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

export function viewAccount(row: AccountRow): AccountView {
  const { accountId, name, inviteCode, createdAt, frozen, reason, threshold, monthlyLimit } = row;
  return {
    accountId,
    name,
    inviteCode,
    createdAt: createdAt.toISOString(),
    balance: {
      main: viewAmount(row.main),
      held: viewAmount(row.held),
      invite: viewAmount(row.invite),
      refundPending: viewAmount(row.refundPending),
    },
    frozen: frozen ? { reason: reason ?? '' } : null,
    lowBalanceThreshold: threshold === null ? null : viewAmount(threshold),
    monthlyLimit: monthlyLimit === null ? null : viewAmount(monthlyLimit),
    spentThisMonth: viewAmount(row.spentThisMonth),
  };
}
