import { z } from 'zod';
import { mailLanguage } from '#people/people.fields.js';
import { id } from '#platform/http/fields.js';
import { monthlyStatementView } from '#usage/statements/statement.view.js';
import { routesFor } from '../http/route.js';

const month = z
  .string()
  .regex(/^20\d\d-(0[1-9]|1[0-2])$/, 'must be a month of UTC, such as 2026-01')
  .meta({ examples: ['2026-01'] });
const ofKey = {
  keyId: id.optional().describe('Only the charges and refunds of this key.'),
};
const query = z.strictObject({
  ...ofKey,
  language: mailLanguage.optional().describe('The language of the document. Default: that of your emails.'),
});
const produces = ['application/pdf'];

/** A report over many rows. One of a month that is not over says up to when it goes, so it may be behind by what a replica is. */
const shared = { reads: 'reports', load: 'query' } as const;
const forUsers = routesFor(['user'], 'Usage');

export const monthlyRoutes = {
  own: forUsers.get('downloadMonthlyStatement', '/api/statements/{month}', {
    ...shared,
    query,
    produces,
    summary: 'Download your monthly statement as PDF.',
    description:
      'Shows the opening and closing balance in credits and what changed it: top-ups, charges by model, and refunds; and the totals of each key and the money paid. The current month goes up to the time shown.',
    params: z.strictObject({ month }),
  }),
  byKey: forUsers.get('readMonthlyStatement', '/api/statements/{month}/by-key', {
    ...shared,
    summary: 'Get the monthly statement as JSON, with totals by key.',
    params: z.strictObject({ month }),
    query: z.strictObject(ofKey),
    answer: monthlyStatementView,
    csv: ['downloadMonthlyWork', 'Download monthly charges by key and model as CSV.'],
  }),
  any: routesFor(['finance'], 'Usage').get(
    'downloadAnyMonthlyStatement',
    '/api/finance/accounts/{accountId}/statements/{month}',
    {
      ...shared,
      query,
      produces,
      summary: 'Download the monthly statement of any account as PDF.',
      params: z.strictObject({ accountId: id, month }),
    },
  ),
};
