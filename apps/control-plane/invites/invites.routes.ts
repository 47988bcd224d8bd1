import { z } from 'zod';
import { creditAmount, amountView, timeView } from '#platform/http/fields.js';
import { financeRequestId } from '#payments/payment.fields.js';
import { routesFor } from '../http/route.js';

const invitesView = z
  .object({
    code: z.string(),
    link: z.string().meta({ description: 'Signs up with the code.' }),
    balance: amountView.meta({ description: 'The invite balance: move it to main before using it.' }),
    movable: amountView.meta({ description: 'What of it can be moved now.' }),
    pending: amountView.meta({ description: 'What cannot be moved yet: the payments may still go back.' }),
    nextMovableAt: timeView.nullable().meta({ description: 'When more can be moved; null: all can be now.' }),
    owed: amountView.meta({
      description: 'Rewards of payments that went back, which no balance covered; the next credits pay it.',
    }),
    invitees: z.array(
      z.object({
        name: z.string().meta({ description: 'A number in the order in which they came; not who they are.' }),
        joinedAt: timeView,
        rewards: z.array(
          z.object({
            ordinal: z.number(),
            amount: amountView,
            takenBack: amountView,
            at: timeView,
            movableAt: timeView.nullable().meta({ description: 'Null: it can be moved.' }),
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
