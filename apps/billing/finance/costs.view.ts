import type { z } from 'zod';
import type { CostImport } from '#finance/costs/cost-file.js';
import type { CostVersion } from '#finance/costs/cost-versions.js';
import type { ChannelBills, UpstreamBill } from '#finance/costs/upstream-bills.js';
import type { ChargeMargin } from '#finance/reports/charge-margin.js';
import type { ChargeRecord } from '../charges/charge.reader.js';
import { viewAmount } from '../http/fields.js';
import type { channelBillsView, costImportView, costRoutes, costView } from './costs.routes.js';

type View<T extends z.ZodType> = z.input<T>;

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
    ...{ dryRun: done.dryRun, same: done.same, refused: [...done.refused] },
    changed: done.changed.map(({ line, wanted, before }) => ({
      line,
      ...wanted,
      effectiveFrom: wanted.effectiveFrom?.toISOString() ?? null,
      before: before && { cost: before.cost, billsFailures: before.billsFailures },
    })),
  };
}

export function viewBill(bill: UpstreamBill): View<typeof costRoutes.recordBill.answer> {
  const { id, channel, number, from, to, amount, accrued, actor, transactionId, recordedAt } = bill;
  return {
    ...{ id, channel, number, from, to, actor },
    ...{ amount: viewAmount(amount), accrued: viewAmount(accrued), difference: viewAmount(amount - accrued) },
    transactionId: transactionId?.toString() ?? null,
    recordedAt: recordedAt.toISOString(),
  };
}

export function viewChannelBills(found: ChannelBills): View<typeof channelBillsView> {
  const { channel, accrued, covered, open, billed, difference, bills, billedTo } = found;
  return {
    ...{ channel, bills, billedTo },
    ...{ accrued: viewAmount(accrued), covered: viewAmount(covered), open: viewAmount(open) },
    ...{ billed: viewAmount(billed), difference: viewAmount(difference) },
  };
}

export function viewChargeMargin(
  charge: ChargeRecord,
  margin: ChargeMargin,
): View<typeof costRoutes.charge.answer> {
  const { id, accountId, model, group, channel, state, createdAt, resolvedAt, refunds } = charge;
  const ofCosts = margin.costs.flatMap(({ transactionId }) =>
    transactionId === null ? [] : [{ id: transactionId.toString(), kind: 'upstream_cost' }],
  );
  return {
    ...{ id, accountId, model, group, channel, state, createdAt: createdAt.toISOString() },
    resolvedAt: resolvedAt?.toISOString() ?? null,
    held: viewAmount(charge.amount),
    gross: viewAmount(margin.gross),
    operatorLoss: viewAmount(charge.operatorLoss),
    refunds: refunds.map((refund) => ({
      ...refund,
      ...{ amount: viewAmount(refund.amount), at: refund.at.toISOString() },
    })),
    costs: margin.costs.map(({ units, cost, costVersionId, transactionId, ...rest }) => ({
      ...rest,
      ...{ units: units.toString(), cost: viewAmount(cost), costVersionId: costVersionId.toString() },
      transactionId: transactionId?.toString() ?? null,
    })),
    ...{ costState: margin.state, cost: viewAmount(margin.cost), margin: viewAmount(margin.margin) },
    transactions: [
      ...margin.transactions.map(({ id: own, kind }) => ({ id: own.toString(), kind })),
      ...ofCosts,
    ],
  };
}
