import { z } from 'zod';
import { route } from './http/route.js';
import { sessionView } from './people/session.routes.js';

const tag = 'Console';

/** What the pages need before anything else. */
export const consoleRoutes = {
  relay: route({
    id: 'getRelay',
    method: 'GET',
    path: '/api/public/relay',
    tag,
    summary: 'Where calls for models go, and what balance is paid in.',
    access: 'public',
    answer: z.object({
      baseUrl: z.string().meta({ description: 'Without /v1.', examples: ['https://api.example.com'] }),
      paymentCurrency: z.string().meta({ examples: ['USD'] }),
    }),
  }),
  session: route({
    id: 'findSession',
    method: 'GET',
    path: '/api/public/session',
    tag,
    summary: 'Who is signed in, if anybody is.',
    access: 'public',
    answer: z.object({
      session: sessionView.nullable(),
      onePerson: z.boolean().meta({
        description: 'To the staff: the installation declares that there is no second person.',
      }),
    }),
  }),
};
