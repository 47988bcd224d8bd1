import { z } from 'zod';
import type { ChargeRecord } from '#usage/charge.reader.js';
import { viewAmount, amountView, day as anyDay, timeView } from '#platform/http/fields.js';
import { decimal } from '#marketplace/prices/price-change.fields.js';
import type { CostImport } from '../costs/cost-file.js';
import type { CostVersion } from '../costs/cost-versions.js';
import type { ChannelBills, UpstreamBill } from '../costs/upstream-bills.js';
import type { ChargeMargin } from '../reports/charge-margin.js';

export const day = anyDay.meta({ description: 'A day of UTC.', examples: ['2026-01-31'] });

export const cost = z
  .union([
    z.strictObject({ unitCost: decimal }),
    z.strictObject({ input: decimal, cachedInput: decimal, output: decimal }),
  ])
  .meta({
    description:
      'USD: `unitCost` of a call or a second of video; or `input`, `cachedInput` and `output` of a million tokens.',
  });

const costFields = {
  channel: z.string(),
  model: z.string(),
  cost: cost.nullable().meta({ description: 'Null: withdrawn, the cost is not known from then on.' }),
  billsFailures: z.boolean().meta({ description: 'Whether the upstream bills work that failed, too.' }),
};

export const billView = z
  .object({
    id: z.string(),
    channel: z.string(),
    number: z.string(),
    from: day,
    to: day.meta({ description: 'The day after the last that it is for.' }),
    amount: amountView.meta({ description: 'USD; below zero for a credit note.' }),
    accrued: amountView.meta({
      description: 'The accrued costs of its days that no earlier bill covered.',
    }),
    difference: amountView.meta({ description: 'amount - accrued: posted as expense.' }),
    transactionId: z.string().nullable(),
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
    costs: z.array(
      z.object({
        outcome: z.enum(['delivered', 'failed', 'late']),
        channel: z.string(),
        units: z.string(),
        cost: amountView,
        costVersionId: z.string(),
        transactionId: z.string().nullable(),
        day,
      }),
    ),
    costState: z.enum(['known', 'waiting', 'unknown', 'none']).meta({
      description:
        'waiting: it is recorded soon; unknown: no cost is set for its model; none: no upstream was reached.',
    }),
    cost: amountView,
    margin: amountView.meta({ description: 'gross less refunds less cost.' }),
    transactions: z
      .array(z.object({ id: z.string(), kind: z.string() }))
      .meta({ description: 'Of the ledger: those of the charge, of its refunds and of its costs.' }),
  })
  .meta({ id: 'ChargeMargin' });

export const costView = z
  .object({
    id: z.string(),
    ...costFields,
    effectiveFrom: timeView.nullable().meta({ description: 'Null: from the beginning.' }),
    until: timeView.nullable().meta({ description: 'Where the next version begins; null: there is none.' }),
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
    same: z.int().meta({ description: 'Rows that ask for what is in force.' }),
    refused: z.array(z.object({ line: z.int(), reason: z.string() })),
  })
  .meta({ id: 'CostImport' });

export const channelBillsView = z
  .object({
    channel: z.string(),
    accrued: amountView.meta({ description: 'All recorded costs.' }),
    covered: amountView.meta({ description: 'Of these, what bills covered.' }),
    open: amountView.meta({ description: 'What no bill covers yet: the balance of accrued-upstream.' }),
    billed: amountView,
    difference: amountView.meta({ description: 'billed - covered.' }),
    bills: z.int(),
    billedTo: day.nullable().meta({ description: 'The first day after all that bills are for.' }),
  })
  .meta({ id: 'ChannelBills' });

type View<T extends z.ZodType> = z.output<T>;

export function viewCost(version: CostVersion): View<typeof costView> {
  const { id, effectiveFrom, until, recordedAt, ...rest } = version;
  return {
    id: id.toString(),
    ...rest,
    effectiveFrom: effectiveFrom?.toISOString() ?? null,
    until: until?.toISOString() ?? null,
    recordedAt: recordedAt.toISOString(),
  };
}

export function viewCostImport(done: CostImport): View<typeof costImportView> {
  return {
    dryRun: done.dryRun,
    same: done.same,
    refused: [...done.refused],
    changed: done.changed.map(({ line, wanted, before }) => ({
      line,
      ...wanted,
      effectiveFrom: wanted.effectiveFrom?.toISOString() ?? null,
      before: before && { cost: before.cost, billsFailures: before.billsFailures },
    })),
  };
}

export function viewBill(bill: UpstreamBill): View<typeof billView> {
  const { id, channel, number, from, to, amount, accrued, actor, transactionId, recordedAt } = bill;
  return {
    id,
    channel,
    number,
    from,
    to,
    actor,
    amount: viewAmount(amount),
    accrued: viewAmount(accrued),
    difference: viewAmount(amount - accrued),
    transactionId: transactionId?.toString() ?? null,
    recordedAt: recordedAt.toISOString(),
  };
}

export function viewChannelBills(found: ChannelBills): View<typeof channelBillsView> {
  const { channel, accrued, covered, open, billed, difference, bills, billedTo } = found;
  return {
    channel,
    bills,
    billedTo,
    accrued: viewAmount(accrued),
    covered: viewAmount(covered),
    open: viewAmount(open),
    billed: viewAmount(billed),
    difference: viewAmount(difference),
  };
}

export function viewChargeMargin(charge: ChargeRecord, margin: ChargeMargin): View<typeof chargeMarginView> {
  const { id, accountId, model, group, channel, state, createdAt, resolvedAt, refunds } = charge;
  const ofCosts = margin.costs.flatMap(({ transactionId }) =>
    transactionId === null ? [] : [{ id: transactionId.toString(), kind: 'upstream_cost' }],
  );
  return {
    id,
    accountId,
    model,
    group,
    channel,
    state,
    createdAt: createdAt.toISOString(),
    resolvedAt: resolvedAt?.toISOString() ?? null,
    held: viewAmount(charge.amount),
    gross: viewAmount(margin.gross),
    operatorLoss: viewAmount(charge.operatorLoss),
    refunds: refunds.map((refund) => ({
      ...refund,
      amount: viewAmount(refund.amount),
      at: refund.at.toISOString(),
    })),
    costs: margin.costs.map(({ units, cost, costVersionId, transactionId, ...rest }) => ({
      ...rest,
      units: units.toString(),
      cost: viewAmount(cost),
      costVersionId: costVersionId.toString(),
      transactionId: transactionId?.toString() ?? null,
    })),
    costState: margin.state,
    cost: viewAmount(margin.cost),
    margin: viewAmount(margin.margin),
    transactions: [
      ...margin.transactions.map(({ id: own, kind }) => ({ id: own.toString(), kind })),
      ...ofCosts,
    ],
  };
}
