import { z } from 'zod';
import { amount, amountView, timeView } from '../http/fields.js';
import { route } from '../http/route.js';
import { requestId } from '../payments/fields.js';

export const invitesView = z.object({
  code: z.string(),
  link: z.string().meta({ description: 'Signs up with the code.' }),
  balance: amountView.meta({ description: 'The invite balance: move it to main before using it.' }),
  owed: amountView.meta({
    description: 'Rewards of payments that went back, which the balance did not cover.',
  }),
  invitees: z.array(
    z.object({
      name: z.string().meta({ description: 'A number in the order of their coming; not who they are.' }),
      joinedAt: timeView,
      rewards: z.array(
        z.object({ ordinal: z.number(), amount: amountView, takenBack: amountView, at: timeView }),
      ),
    }),
  ),
});

export const inviteRoutes = {
  show: route({
    id: 'getInvites',
    method: 'GET',
    path: '/api/invites',
    tag: 'Invites',
    summary: 'The code to invite others with, who came by it, and the rewards of their first two top-ups.',
    access: ['user'],
    answer: invitesView,
  }),
  transfer: route({
    id: 'transferInviteBalance',
    method: 'POST',
    path: '/api/invites/transfers',
    tag: 'Invites',
    summary: 'Move any part of the invite balance to the main balance.',
    access: ['user'],
    body: z.strictObject({
      amount: amount.refine((value) => value > 0n, 'must be above 0'),
      requestId,
    }),
    answer: z.object({ moved: amountView, invite: amountView, main: amountView }),
    refusals: ['conflict'],
  }),
};
