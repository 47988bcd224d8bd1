import { z } from 'zod';
import { amountView, timeView, shown } from '#platform/http/fields.js';
import type { Approval } from './approval.entity.js';

export const approvalView = z
  .object({
    id: z.string(),
    kind: z.string().meta({ examples: ['topup.manual'] }),
    subject: z.string().meta({ description: 'What it changes, as `kind:{id}`.' }),
    accountId: z.string().nullable(),
    details: z.unknown().meta({ description: 'What is asked for, by kind.' }),
    amount: amountView.nullable(),
    reason: z.string(),
    state: z.enum(['pending', 'approved', 'rejected']),
    requestedBy: z.string().meta({ description: "A person's id." }),
    decidedBy: z.string().nullable(),
    self: z.boolean().meta({
      description: 'One person asked and decided, where the installation declares that it has no second one.',
    }),
    decisionNote: z.string().nullable(),
    outcome: z.unknown().meta({ description: 'What its application answered, by kind; null before.' }),
    createdAt: timeView,
    decidedAt: timeView.nullable(),
  })
  .meta({ id: 'Approval' });
export type ApprovalView = z.output<typeof approvalView>;

export function viewApproval({ payload, ...approval }: Approval): ApprovalView {
  return shown(approvalView, { ...approval, details: payload });
}
