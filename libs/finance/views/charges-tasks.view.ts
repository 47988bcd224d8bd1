import { z } from 'zod';
import { csvColumns } from '#platform/http/csv.js';
import { amountView, countView, numberText, timeView } from '#platform/http/fields.js';
import { FAULTY_WORK, type WorkDay, workStates } from '../reports/charges-tasks.js';

export const workState = z.enum(workStates);

export const itemShape = z
  .object({
    subject: z.string().meta({ description: '`task:{id}`, or `charge:{id}` for work without a task.' }),
    state: workState,
    at: timeView.meta({ description: 'When the work ended, or otherwise its charge.' }),
    chargeId: z.string().nullable(),
    chargeState: z.string().nullable(),
    amount: amountView.nullable().meta({ description: 'The amount first held.' }),
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
      .meta({ description: 'The status returned to the client, if it sent an idempotency key.' }),
    transactionIds: z.array(numberText).meta({ description: 'Ledger transactions.' }),
  })
  .meta({ id: 'ChargeTaskItem' });

export const dayShape = z
  .object({
    day: z.string().meta({ examples: ['2026-01-31'] }),
    state: workState,
    items: countView,
    amount: amountView,
    settled: amountView,
  })
  .meta({ id: 'ChargeTaskDay' });

type ItemView = z.output<typeof itemShape>;

/** How many of them are faults. */
export function faultsOf(days: readonly WorkDay[]): number {
  const faulty = days.filter(({ state }) => FAULTY_WORK.some((each) => each === state));
  return Number(faulty.reduce((sum, { items }) => sum + items, 0n));
}

export const workColumns = csvColumns<ItemView>(
  'at',
  'state',
  'chargeId',
  'chargeState',
  'amount',
  'settled',
  'taskId',
  'taskState',
  'answered',
  'requestId',
  'accountId',
  'model',
  'channel',
  'transactionIds',
);
