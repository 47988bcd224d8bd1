import { workState, dayShape, itemShape } from '#finance/reports/charges-tasks.js';
import { z } from 'zod';
import { queryFlag, timeView } from '#platform/http/fields.js';
import { routesFor } from '../http/route.js';
import { timeRange } from '../http/report-range.js';

const filter = { ...timeRange, state: workState.optional(), faults: queryFlag('Only faults.') };

const forFinance = routesFor(['finance'], 'Reports', 'reports');

export const chargesTasksRoutes = {
  days: forFinance.get('reportChargesTasks', '/api/finance/reports/charges-tasks', {
    summary: 'Count charges against tasks and requests by state and UTC day.',
    description:
      'Compares every charge with its task or request, and every task and answered request with its charge. All counts except matched and running should be 0: charged without work, work without charge, failed without release, failed and settled, late (completed after its charge was refunded), and task or charge missing.',
    query: z.strictObject(timeRange),
    answer: z.object({
      from: timeView,
      to: timeView,
      faults: z.int().describe('Should be 0.'),
      days: z.array(dayShape),
    }),
  }),
  items: forFinance.list(itemShape)('listChargesTasks', '/api/finance/reports/charges-tasks/items', {
    summary: 'List charges against tasks and requests, newest first.',
    query: filter,
    csv: ['downloadChargesTasks', 'Download charges against tasks and requests as CSV.'],
  }),
};
