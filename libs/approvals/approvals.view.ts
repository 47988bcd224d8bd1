import { z } from 'zod';
import { amountView, timeView, shown } from '#platform/http/fields.js';
import type { Approval } from './approval.entity.js';

export const approvalView = z
  .object({
    id: z.string(),
    kind: z.string().meta({ examples: ['topup.manual'] }),
    subject: z.string().describe('The subject of the change, as `kind:{id}`.'),
    accountId: z.string().nullable(),
    details: z.unknown().describe('The requested change; the fields depend on the type.'),
    amount: amountView.nullable(),
    reason: z.string(),
    state: z.enum(['pending', 'approved', 'rejected']),
    requestedBy: z.string().describe("A person's ID."),
    decidedBy: z.string().nullable(),
    self: z
      .boolean()
      .describe(
        'Whether one person requested and approved it, because the installation is declared to have only one.',
      ),
    decisionNote: z.string().nullable(),
    outcome: z
      .unknown()
      .describe('The result once applied; the fields depend on the type. Null before that.'),
    createdAt: timeView,
    decidedAt: timeView.nullable(),
  })
  .meta({ id: 'Approval' });
export type ApprovalView = z.output<typeof approvalView>;

export function viewApproval({ payload, ...approval }: Approval): ApprovalView {
  return shown(approvalView, { ...approval, details: payload });
}
