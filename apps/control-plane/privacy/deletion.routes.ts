import { z } from 'zod';
import { amountView, requestIdField, timeView, reasonText } from '#platform/http/fields.js';
import { oneTimeCode } from '#people/people.fields.js';
import { routesFor } from '../http/route.js';

const forfeitBalance = z
  .boolean()
  .default(false)
  .describe('Forfeit the credits that are left when the deletion runs. Otherwise none may be left.');
const password = z.string().min(1).max(200);

const deletionView = z
  .object({
    state: z.enum(['requested', 'running', 'done']),
    requestedAt: timeView,
    dueAt: timeView.describe('The deletion can be cancelled by signing in until this time.'),
    waitingFor: z
      .enum(['holds', 'tasks', 'refunds', 'disputes', 'approvals', 'debt', 'balance', 'files'])
      .nullable()
      .describe('What must end before the deletion can continue.'),
  })
  .meta({ id: 'AccountDeletion' });

const forUsers = routesFor(['user'], 'Privacy');
const forStaff = routesFor(['support', 'admin'], 'Privacy');

export const deletionRoutes = {
  show: forUsers.get('getAccountDeletion', '/api/account/deletion', {
    summary: 'Preview the deletion of your account.',
    underView: 'refused',
    answer: z.object({
      graceSeconds: z.number().describe('How long a deletion can be cancelled.'),
      main: amountView,
      invite: amountView.describe('Request a refund of both balances by ticket first, or forfeit them.'),
      held: amountView.describe('Held for calls in progress, which end as usual first.'),
    }),
  }),
  request: forUsers.post('deleteAccount', '/api/account/deletion', {
    summary: 'Delete your account after a cooling-off period.',
    description:
      'Permanently revokes all API keys and ends all sessions at once. Until `dueAt` you can keep the account by signing in with `cancelDeletion`. Then everything is deleted except what bookkeeping requires, which is kept under a pseudonym.',
    confirms: true,
    body: z.strictObject({ password, code: oneTimeCode.optional(), forfeitBalance }),
    answer: deletionView,
    status: 202,
    refusals: ['conflict', 'totp_required', 'too_many_attempts'],
  }),
  ask: forStaff.post('askForAccountDeletion', '/api/support/tickets/{ticketId}/account-deletion', {
    summary: 'Request the deletion of an account, with a ticket.',
    confirms: true,
    body: z.strictObject({
      requestId: requestIdField,
      reason: reasonText,
      forfeitBalance,
    }),
    answer: z.object({
      approvalId: z.string().describe('The approval that an administrator has to give.'),
    }),
    status: 202,
    refusals: ['second_person_required', 'conflict'],
  }),
  cancel: forStaff.post('cancelAccountDeletion', '/api/support/accounts/{accountId}/deletion/cancel', {
    summary: 'Cancel a pending deletion for an owner who cannot sign in. The owner is notified by mail.',
    confirms: true,
    body: z.strictObject({ reason: reasonText.describe('Recorded in the audit log.') }),
    refusals: ['second_person_required', 'conflict'],
  }),
};
