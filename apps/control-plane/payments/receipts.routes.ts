import { z } from 'zod';
import { mailLanguage } from '#people/people.fields.js';
import { routesFor } from '../http/route.js';

const receipt = {
  load: 'file' as const,
  query: z.strictObject({
    language: mailLanguage
      .optional()
      .meta({ description: 'The language of the document. Default: that of your emails.' }),
  }),
  produces: ['application/pdf'],
};

export const receiptRoutes = {
  own: routesFor(['user'], 'Top-ups').get('downloadReceipt', '/api/topups/{topupId}/receipt.pdf', {
    ...receipt,
    summary: 'Download the receipt of one of your top-ups as PDF.',
    description: 'Takes the `topupId` of a paid order. Shows what has been refunded since.',
  }),
  any: routesFor(['finance'], 'Payments').get(
    'downloadAnyReceipt',
    '/api/finance/topups/{topupId}/receipt.pdf',
    { ...receipt, summary: 'Download the receipt of any top-up as PDF.' },
  ),
};
