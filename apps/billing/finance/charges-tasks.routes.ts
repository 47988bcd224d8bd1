import { z } from 'zod';
import { workStates } from '#finance/reports/charges-tasks.js';
import { amountView, pageQuery, time, timeView } from '../http/fields.js';
import { route } from '../http/route.js';

const FINANCE = ['finance'] as const;
const tag = 'Reports';

const workState = z.enum(workStates);

export const workView = z.object({
  subject: z.string().meta({ description: '`task:{id}`, or `charge:{id}` of work without a task.' }),
  state: workState,
  at: timeView.meta({ description: 'When the work ended, or its charge where it did not.' }),
  chargeId: z.string().nullable(),
  chargeState: z.string().nullable(),
  amount: amountView.nullable().meta({ description: 'That was held at first.' }),
  settled: amountView.nullable(),
  accountId: z.string().nullable(),
  model: z.string().nullable(),
  channel: z.string().nullable(),
  requestId: z.string().nullable(),
  taskId: z.string().nullable(),
  taskState: z.string().nullable(),
  answered: z
    .number()
    .int()
    .nullable()
    .meta({ description: 'The status that the client was answered, where it named its request.' }),
  transactionIds: z.array(z.string()).meta({ description: 'Of the ledger.' }),
});

export const workDayView = z.object({
  day: z.string().meta({ examples: ['2026-01-31'] }),
  state: workState,
  items: z.number().int(),
  amount: amountView,
  settled: amountView,
});

const range = {
  from: time.optional().meta({ description: 'Not before this time; 31 days before its end by default.' }),
  to: time.optional().meta({ description: 'Before this time; now by default. At most 92 days.' }),
};
const filter = {
  ...range,
  state: workState.optional(),
  faults: z.enum(['true', 'false']).default('false').meta({ description: 'Only what should not be.' }),
};

export const chargesTasksRoutes = {
  days: route({
    id: 'reportChargesTasks',
    method: 'GET',
    path: '/api/finance/reports/charges-tasks',
    tag,
    summary: 'Charges against tasks and requests: how many are in which state, by UTC day.',
    description:
      'Every charge against its task or request, and every task and answered request against its charge. All but matched and running should be 0: charged without work, work without charge, failed without release, failed and settled, late (completed after its charge was given back), task or charge missing.',
    access: FINANCE,
    query: z.strictObject(range),
    answer: z.object({
      from: timeView,
      to: timeView,
      faults: z.number().int().meta({ description: 'What should be 0.' }),
      days: z.array(workDayView),
    }),
  }),
  items: route({
    id: 'listChargesTasks',
    method: 'GET',
    path: '/api/finance/reports/charges-tasks/items',
    tag,
    summary: 'Charges against tasks and requests one by one, newest first.',
    access: FINANCE,
    query: z.strictObject({ ...pageQuery, ...filter }),
    answer: z.object({ items: z.array(workView), nextCursor: z.string().nullable() }),
  }),
  itemsCsv: route({
    id: 'downloadChargesTasks',
    method: 'GET',
    path: '/api/finance/reports/charges-tasks/items.csv',
    tag,
    summary: 'The same as a file.',
    access: FINANCE,
    query: z.strictObject(filter),
    produces: ['text/csv'],
  }),
};
