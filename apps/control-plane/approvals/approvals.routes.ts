import { z } from 'zod';
import { id, pageOf, pageQuery } from '#platform/http/fields.js';
import { approvalView } from '#approvals/approvals.view.js';
import { route } from '../http/route.js';

const STAFF = ['support', 'finance', 'admin'] as const;
const note = z.string().trim().min(1, 'must not be empty').max(500, 'must have at most 500 characters');
const params = z.strictObject({ approvalId: id });

export const approvalRoutes = {
  list: route({
    id: 'listApprovals',
    method: 'GET',
    path: '/api/approvals',
    tag: 'Approvals',
    summary: 'What waits for a second person, and what was decided: the kinds that the caller may decide.',
    access: STAFF,
    query: z.strictObject({ ...pageQuery, state: z.enum(['pending', 'approved', 'rejected']).optional() }),
    answer: pageOf(approvalView),
  }),
  show: route({
    id: 'getApproval',
    method: 'GET',
    path: '/api/approvals/{approvalId}',
    tag: 'Approvals',
    summary: 'One of them.',
    access: STAFF,
    params,
    answer: approvalView,
  }),
  approve: route({
    id: 'approve',
    method: 'POST',
    path: '/api/approvals/{approvalId}/approve',
    tag: 'Approvals',
    summary: 'Agree: it is applied at once and exactly once.',
    description:
      'The person who asked cannot approve. What cannot be applied any more is refused and stays pending.',
    access: STAFF,
    confirms: true,
    params,
    body: z.strictObject({ note: note.optional() }),
    answer: approvalView,
    refusals: ['second_person_required', 'conflict'],
  }),
  reject: route({
    id: 'reject',
    method: 'POST',
    path: '/api/approvals/{approvalId}/reject',
    tag: 'Approvals',
    summary: 'Refuse it for good.',
    access: STAFF,
    params,
    body: z.strictObject({ note }),
    answer: approvalView,
    refusals: ['second_person_required', 'conflict'],
  }),
};
