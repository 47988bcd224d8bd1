import type { z } from 'zod';
import { viewAmount } from '../http/fields.js';
import type { Approval } from './approval.entity.js';
import type { approvalView } from './approvals.routes.js';

export type ApprovalView = z.input<typeof approvalView>;

export function viewApproval(approval: Approval): ApprovalView {
  const { payload, amount, createdAt, decidedAt, requestId: _, ...shown } = approval;
  return {
    ...shown,
    details: payload,
    amount: amount === null ? null : viewAmount(amount),
    createdAt: createdAt.toISOString(),
    decidedAt: decidedAt?.toISOString() ?? null,
  };
}
