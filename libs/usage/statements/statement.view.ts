import { z } from 'zod';
import { formatMinor } from '#money/currency.js';
import { type CsvColumn } from '#platform/http/csv.js';
import { amountView, shown, timeView } from '#platform/http/fields.js';
import { keysOf, type KeyWork, moneyMoves, type MonthlyStatement } from './monthly-statement.js';

const ofKey = {
  keyId: z.string().nullable().describe('Null for charges without a key.'),
  keyName: z.string().nullable().describe("The key's current name."),
  requests: z.int().describe('Requests charged in the month.'),
  charged: amountView,
  refunded: amountView.describe('Refunded in the month, regardless of when it was charged.'),
};

export const monthlyStatementView = z
  .object({
    month: z.string().meta({ examples: ['2026-01'] }),
    to: timeView.describe('Includes everything recorded before this time.'),
    key: z.object({ keyId: z.string(), name: z.string() }).nullable().describe('Null for the whole account.'),
    opening: amountView.nullable().describe('Null for a single key, which has no balance.'),
    closing: amountView.nullable(),
    moves: z.array(
      z.object({
        kind: z.string(),
        model: z.string().nullable(),
        amount: amountView.describe('Positive amounts add to the balance.'),
      }),
    ),
    keys: z
      .array(z.object({ ...ofKey, net: amountView.describe('`charged` − `refunded`.') }))
      .describe('The charges of each key, highest first. Together they equal the charges in `moves`.'),
    money: z.array(
      z.object({
        what: z.enum(moneyMoves),
        count: z.int(),
        currency: z.string(),
        amount: z.string().meta({
          description: 'Money. Negative for refunds and for what a bank took back.',
          examples: ['13.00'],
        }),
      }),
    ),
  })
  .meta({ id: 'MonthlyStatement' });

export function viewMonthlyStatement(statement: MonthlyStatement) {
  const { balances, money, ...rest } = statement;
  return shown(monthlyStatementView, {
    ...rest,
    opening: balances?.opening ?? null,
    closing: balances?.closing ?? null,
    keys: keysOf(statement).map((each) => ({ ...each, net: netOf(each) })),
    money: money.map(({ amountMinor, currency, ...each }) => ({
      ...each,
      currency,
      amount: formatMinor(amountMinor, currency),
    })),
  });
}

function netOf({ charged, refunded }: Pick<KeyWork, 'charged' | 'refunded'>): bigint {
  return charged - refunded;
}

const credits = (amount: bigint) => shown(amountView, amount);

/** One row per key and model. */
export const keyWorkColumns: CsvColumn<KeyWork>[] = [
  { title: 'key', value: ({ keyId }) => keyId },
  { title: 'key_name', value: ({ keyName }) => keyName },
  { title: 'model', value: ({ model }) => model },
  { title: 'requests', value: ({ requests }) => requests },
  { title: 'charged_credits', value: ({ charged }) => credits(charged) },
  { title: 'refunded_credits', value: ({ refunded }) => credits(refunded) },
  { title: 'net_credits', value: (row) => credits(netOf(row)) },
];
