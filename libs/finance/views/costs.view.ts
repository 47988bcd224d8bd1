import { z } from 'zod';
import type { ChargeRecord } from '#usage/charge.reader.js';
import { postingKinds } from '#ledger/postings/posting-kinds.js';
import {
  amountView,
  numberText,
  refusedRowView,
  shown,
  timeView,
  utcDay,
  wordView,
} from '#platform/http/fields.js';
import { decimal, mediaFields } from '#marketplace/prices/price-change.fields.js';
import { costFaultCodes } from '../costs/cost-fault.js';
import type { CostImport } from '../costs/cost-file.js';
import type { UpstreamBill } from '../costs/upstream-bills.js';
import { chargeCostView, type ChargeMargin } from '../reports/charge-margin.js';

export const cost = z
  .union([
    z.strictObject({ unitCost: decimal }),
    z.strictObject({ input: decimal, cachedInput: decimal, output: decimal, ...mediaFields }),
  ])
  .describe(
    'In USD: `unitCost` per call or second of video, or `input`, `cachedInput` and `output` per million tokens, optionally with prices for image and audio tokens. Omitted prices equal those of text.',
  );

const costFields = {
  channel: z.string(),
  model: z.string(),
  cost: cost.nullable().describe('Null if withdrawn: the cost is unknown from then on.'),
  billsFailures: z.boolean().describe('Whether the upstream also bills failed work.'),
};

export const billView = z
  .object({
    id: z.string(),
    channel: z.string(),
    number: z.string(),
    from: utcDay,
    to: utcDay.describe('The day after the last billed day.'),
    amount: amountView.describe('USD. Negative for a credit note.'),
    accrued: amountView.describe('Accrued costs of the billed days that no earlier bill covered.'),
    difference: amountView.describe('`amount` − `accrued`, posted as an expense.'),
    transactionId: numberText.nullable(),
    actor: z.string(),
    recordedAt: timeView,
  })
  .meta({ id: 'VendorBill' });

export const chargeMarginView = z
  .object({
    id: z.string(),
    accountId: z.string(),
    model: z.string().nullable(),
    group: z.string().nullable(),
    channel: z.string().nullable(),
    state: z.enum(['refused', 'held', 'settled', 'released']),
    createdAt: timeView,
    resolvedAt: timeView.nullable(),
    held: amountView,
    gross: amountView,
    operatorLoss: amountView,
    refunds: z.array(z.object({ id: z.string(), amount: amountView, at: timeView, reason: z.string() })),
    costs: z.array(chargeCostView),
    costState: z
      .enum(['known', 'waiting', 'unknown', 'none'])
      .describe(
        '`waiting`: will be recorded soon; `unknown`: no cost is set for the model; `none`: no upstream was reached.',
      ),
    cost: amountView.describe('USD.'),
    transactions: z
      .array(z.object({ id: numberText, kind: wordView(postingKinds) }))
      .describe('Ledger transactions of the charge, its refunds and its costs.'),
  })
  .meta({ id: 'ChargeMargin' });

export const costView = z
  .object({
    id: numberText,
    ...costFields,
    effectiveFrom: timeView.nullable().describe('Null means from the beginning.'),
    until: timeView.nullable().describe('When the next version begins. Null if there is none.'),
    actor: z.string(),
    reason: z.string(),
    recordedAt: timeView,
  })
  .meta({ id: 'Cost' });

export const costImportView = z
  .object({
    dryRun: z.boolean(),
    changed: z.array(
      z.object({
        line: z.int(),
        ...costFields,
        effectiveFrom: timeView.nullable(),
        before: z.object({ cost: costFields.cost, billsFailures: z.boolean() }).nullable(),
      }),
    ),
    same: z.int().describe('Rows that match what is in force.'),
    refused: z.array(refusedRowView(costFaultCodes)),
  })
  .meta({ id: 'CostImport' });

export function viewCostImport({ changed, ...done }: CostImport) {
  return shown(costImportView, {
    ...done,
    changed: changed.map(({ wanted, ...row }) => ({ ...row, ...wanted })),
  });
}

export function viewBill(bill: UpstreamBill) {
  return shown(billView, { ...bill, difference: bill.amount - bill.accrued });
}

export function viewChargeMargin(charge: ChargeRecord, margin: ChargeMargin) {
  const ofCosts = margin.costs.flatMap(({ transactionId }) =>
    transactionId === null ? [] : [{ id: transactionId, kind: 'upstream_cost' as const }],
  );
  return shown(chargeMarginView, {
    ...charge,
    held: charge.amount,
    gross: margin.gross,
    costs: margin.costs,
    costState: margin.state,
    cost: margin.cost,
    transactions: [...margin.transactions, ...ofCosts],
  });
}
