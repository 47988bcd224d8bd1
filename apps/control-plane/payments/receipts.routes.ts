import { z } from 'zod';
import { mailLanguage } from '#people/people.fields.js';
import { id } from '#platform/http/fields.js';
import { routesFor } from '../http/route.js';

const receipt = {
  load: 'file' as const,
  params: z.strictObject({ topupId: id }),
  query: z.strictObject({
    language: mailLanguage.optional().meta({ description: 'Of its texts; the one of your mail by default.' }),
  }),
  produces: ['application/pdf'],
};

export const receiptRoutes = {
  own: routesFor(['user'], 'Top-ups').get('downloadReceipt', '/api/topups/{topupId}/receipt.pdf', {
    ...receipt,
    summary: 'Download the receipt of one of your top-ups as PDF.',
    description: 'By the `topupId` of an order that was paid. It names what was refunded since.',
  }),
  any: routesFor(['finance'], 'Payments').get(
    'downloadAnyReceipt',
    '/api/finance/topups/{topupId}/receipt.pdf',
    { ...receipt, summary: 'Download the receipt of any top-up as PDF.' },
  ),
};
