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
          'The price of a credit in the payment currency: the rate of the signed-in account, or the standard rate.',
        examples: ['1.3'],
      }),
      groups: z
        .array(z.string())
        .describe(
          'The groups that the signed-in account can create keys in, or those open to every account.',
        ),
    }),
  }),
  session: forAll.get('findSession', '/api/public/session', {
    summary: 'Get the current session, or null.',
    answer: z.object({
      session: sessionView.nullable(),
      onePerson: z
        .boolean()
        .describe('For staff: whether the installation is declared to have only one person.'),
    }),
  }),
};
