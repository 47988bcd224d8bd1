import { z } from 'zod';
import { routesFor } from './http/route.js';
import { sessionView } from './people/session.routes.js';

const forAll = routesFor('public', 'Console');

/** What the pages need before anything else. */
export const consoleRoutes = {
  relay: forAll.get('getRelay', '/api/public/relay', {
    summary: 'Where calls for models go, and what balance is paid in.',
    answer: z.object({
      baseUrl: z.string().meta({ description: 'Without /v1.', examples: ['https://api.example.com'] }),
      paymentCurrency: z.string().meta({ examples: ['USD'] }),
    }),
  }),
  session: forAll.get('findSession', '/api/public/session', {
    summary: 'Who is signed in, if anybody is.',
    answer: z.object({
      session: sessionView.nullable(),
      onePerson: z.boolean().meta({
        description: 'To the staff: the installation declares that there is no second person.',
      }),
    }),
  }),
};
