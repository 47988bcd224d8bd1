import { z } from 'zod';
import { mailLanguage } from '#people/people.fields.js';
import { id } from '#platform/http/fields.js';
import { routesFor } from '../http/route.js';

const month = z
  .string()
  .regex(/^20\d\d-(0[1-9]|1[0-2])$/, 'must be a month of UTC, such as 2026-01')
  .meta({ examples: ['2026-01'] });
const query = z.strictObject({
  language: mailLanguage.optional().meta({ description: 'Of its texts; the one of your mail by default.' }),
});
const produces = ['application/pdf'];

/** A report over many rows. One of a month that is not over says up to when it goes, so it may be behind by what a replica is. */
const shared = { reads: 'reports', load: 'query', query, produces } as const;

export const monthlyRoutes = {
  own: routesFor(['user'], 'Usage').get('downloadMonthlyStatement', '/api/statements/{month}', {
    ...shared,
    summary: 'Your statement of a month, as a PDF.',
    description:
      'Opening and closing balance in credits, with what led from one to the other: top-ups, charges by model, refunds. ' +
      'Money that was paid is beside it. A month that is not over goes up to the time that it says.',
    params: z.strictObject({ month }),
  }),
  any: routesFor(['finance'], 'Usage').get(
    'downloadAnyMonthlyStatement',
    '/api/finance/accounts/{accountId}/statements/{month}',
    {
      ...shared,
      summary: 'The statement of a month of any account, as a PDF.',
      params: z.strictObject({ accountId: id, month }),
    },
  ),
};
