import { z } from 'zod';
import { routesFor } from './http/route.js';
import { sessionView } from './people/session.routes.js';

const forAll = routesFor('public', 'Console');

/** What the pages need before anything else. */
export const consoleRoutes = {
  relay: forAll.get('getRelay', '/api/public/relay', {
    summary: 'Get the base URL, the payment currency and the price of a credit.',
    answer: z.object({
      baseUrl: z.string().meta({ description: 'Without /v1.', examples: ['https://api.example.com'] }),
      paymentCurrency: z.string().meta({ examples: ['USD'] }),
      creditRate: z.string().meta({
        description:
          'What a credit costs in the payment currency: the rate of the account that is signed in, the standard one otherwise.',
        examples: ['1.3'],
      }),
      groups: z.array(z.string()).meta({
        description: 'The groups that the account may make keys in; those open to every account otherwise.',
      }),
    }),
  }),
  session: forAll.get('findSession', '/api/public/session', {
    summary: 'Get who is signed in, if anyone is.',
    answer: z.object({
      session: sessionView.nullable(),
      onePerson: z.boolean().meta({
        description: 'To the staff: the installation declares that there is no second person.',
      }),
    }),
  }),
};
