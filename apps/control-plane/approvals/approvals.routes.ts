import { z } from 'zod';
import { approvalView } from '#approvals/approvals.view.js';
import { visibleText } from '#platform/http/fields.js';
import { routesFor } from '../http/route.js';

const note = visibleText.max(500, 'must have at most 500 characters');

const forReaders = routesFor(['support', 'finance', 'admin'], 'Approvals');

export const approvalRoutes = {
  list: forReaders.list(approvalView)('listApprovals', '/api/approvals', {
    summary: 'List pending and decided approvals of the types you can decide.',
    query: { state: z.enum(['pending', 'approved', 'rejected']).optional() },
  }),
  show: forReaders.get('getApproval', '/api/approvals/{approvalId}', {
    summary: 'Get an approval.',
    answer: approvalView,
  }),
  approve: forReaders.post('approve', '/api/approvals/{approvalId}/approve', {
    summary: 'Approve a request. It is applied immediately and exactly once.',
    description:
      'The person who made the request cannot approve it. If it can no longer be applied, approving is refused and the request stays pending.',
    confirms: true,
    body: z.strictObject({ note: note.optional() }),
    answer: approvalView,
    refusals: ['second_person_required', 'conflict'],
  }),
  reject: forReaders.post('reject', '/api/approvals/{approvalId}/reject', {
    summary: 'Reject a request permanently.',
    body: z.strictObject({ note }),
    answer: approvalView,
    refusals: ['second_person_required', 'conflict'],
  }),
};
