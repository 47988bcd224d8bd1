import { z } from 'zod';
import { amountView, id, requestIdField, timeView } from '#platform/http/fields.js';
import { oneTimeCode } from '#people/people.fields.js';
import { routesFor } from '../http/route.js';

const forfeitBalance = z.boolean().default(false).meta({
  description:
    'Whether credits that are left when the deletion runs are forfeited. Without it none may be left.',
});
const password = z.string().min(1).max(200);

const deletionView = z
  .object({
    state: z.enum(['requested', 'running', 'done']),
    requestedAt: timeView,
    dueAt: timeView.meta({ description: 'Until then signing in can cancel it.' }),
    waitingFor: z
      .enum(['holds', 'tasks', 'refunds', 'disputes', 'approvals', 'debt', 'balance', 'files'])
      .nullable()
      .meta({ description: 'What has to end before it goes on.' }),
  })
  .meta({ id: 'AccountDeletion' });

const forUsers = routesFor(['user'], 'Privacy');
const forStaff = routesFor(['support', 'admin'], 'Privacy');

export const deletionRoutes = {
  show: forUsers.get('getAccountDeletion', '/api/account/deletion', {
    summary: 'Preview the deletion of your account.',
    underView: 'refused',
    answer: z.object({
      graceSeconds: z.number().meta({ description: 'How long a deletion can be cancelled.' }),
      main: amountView,
      invite: amountView.meta({ description: 'Both are refunded by a ticket before, or forfeited.' }),
      held: amountView.meta({ description: 'Of calls in progress; they end as usual first.' }),
    }),
  }),
  request: forUsers.post('deleteAccount', '/api/account/deletion', {
    summary: 'Delete your account after a cooling-off period.',
    description:
      'Every API key is revoked at once, for good, and every session ends. Until `dueAt` signing in with `cancelDeletion` keeps ' +
      'the account. Then what bookkeeping requires stays, under a pseudonym; everything else is deleted.',
    confirms: true,
    body: z.strictObject({ password, code: oneTimeCode.optional(), forfeitBalance }),
    answer: deletionView,
    status: 202,
    refusals: ['conflict', 'totp_required', 'too_many_attempts'],
  }),
  ask: forStaff.post('askForAccountDeletion', '/api/support/tickets/{ticketId}/account-deletion', {
    summary: 'Request the deletion of an account, with a ticket.',
    confirms: true,
    params: z.strictObject({ ticketId: id }),
    body: z.strictObject({
      requestId: requestIdField,
      reason: z.string().trim().min(3, 'must say why').max(500),
      forfeitBalance,
    }),
    answer: z.object({ approvalId: z.string().meta({ description: 'What an administrator decides.' }) }),
    status: 202,
    refusals: ['second_person_required', 'conflict'],
  }),
  cancel: forStaff.delete('cancelAccountDeletion', '/api/support/accounts/{accountId}/deletion', {
    summary: 'Cancel a pending deletion for an owner who cannot sign in.',
    params: z.strictObject({ accountId: id }),
    refusals: ['conflict'],
  }),
};
