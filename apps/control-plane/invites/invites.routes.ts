import { z } from 'zod';
import { creditAmount, amountView, timeView } from '#platform/http/fields.js';
import { financeRequestId } from '#payments/payment.fields.js';
import { routesFor } from '../http/route.js';

const invitesView = z
  .object({
    code: z.string(),
    link: z.string().describe('A sign-up link that contains the code.'),
    balance: amountView.describe('The invite balance. Transfer it to the main balance to use it.'),
    movable: amountView.describe('The part that can be transferred now.'),
    pending: amountView.describe(
      'The part that cannot be transferred yet, because the payments could still be returned.',
    ),
    nextMovableAt: timeView
      .nullable()
      .describe('When more can be transferred. Null if all of it can be now.'),
    owed: amountView.describe(
      'Rewards for returned payments that no balance covered. Deducted from the next credits.',
    ),
    invitees: z.array(
      z.object({
        name: z.string().describe('A number in order of sign-up, which does not reveal the person.'),
        joinedAt: timeView,
        rewards: z.array(
          z.object({
            ordinal: z.number(),
            amount: amountView,
            takenBack: amountView,
            at: timeView,
            movableAt: timeView.nullable().describe('Null if it can be transferred now.'),
          }),
        ),
      }),
    ),
  })
  .meta({ id: 'Invites' });

const forUsers = routesFor(['user'], 'Invites');

export const inviteRoutes = {
  show: forUsers.get('getInvites', '/api/invites', {
    summary: 'Get your invite code, who signed up with it, and your rewards.',
    answer: invitesView,
  }),
  transfer: forUsers.post('transferInviteBalance', '/api/invites/transfers', {
    summary: 'Transfer rewards to the main balance.',
    body: z.strictObject({
      amount: creditAmount.refine((value) => value > 0n, 'must be above 0'),
      requestId: financeRequestId,
    }),
    answer: z.object({ moved: amountView, invite: amountView, main: amountView }),
    refusals: ['conflict'],
  }),
};
