import { z } from 'zod';
import { retentionClasses } from '#privacy/retention.js';
import { timeView } from '#platform/http/fields.js';
import { routesFor } from '../http/route.js';

const name = z.enum(retentionClasses);
const keptSeconds = z.number().describe('How long this data is kept.');

const forAll = routesFor('public', 'Privacy');
const forAdmins = routesFor(['admin'], 'Privacy');

export const retentionRoutes = {
  show: forAll.get('getRetention', '/api/public/retention', {
    summary: 'Get how long each type of data is kept.',
    description:
      'Balances, charges, payments, approvals and the audit log are kept permanently and refer to people by ID. Tickets are kept until their account is deleted. The time for prompts starts at the end of their task.',
    answer: z.object({ items: z.array(z.object({ class: name, keptSeconds })) }),
  }),
  runs: forAdmins.get('listRetentionRuns', '/api/admin/retention', {
    summary: 'Get the retention schedule and what the last runs removed.',
    answer: z.object({
      items: z.array(
        z.object({
          class: name,
          variable: z.string().describe('The environment variable that sets it.'),
          keptSeconds,
          lastRunAt: timeView.nullable(),
          removedTotal: z.string().describe('The total number removed.'),
        }),
      ),
    }),
  }),
};
