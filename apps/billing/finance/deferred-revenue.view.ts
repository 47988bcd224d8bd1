import type { z } from 'zod';
import type { DeferredRevenueReport } from '#finance/reports/deferred-revenue.js';
import { viewAmount } from '../http/fields.js';
import type { deferredRevenueView } from './deferred-revenue.routes.js';
import { money, timeOf } from './ledger.view.js';

/** @param currency of the house, ISO 4217 */
export function viewDeferredRevenue(
  report: DeferredRevenueReport,
  currency: string,
): z.input<typeof deferredRevenueView> {
  const { from, to, lines, lots, agrees } = report;
  const paid = (minor: bigint): string => money(minor, { symbol: currency, decimals: 2 });
  return {
    ...{
      from,
      to,
      currency,
      completeTo: timeOf(report.completeTo),
      recognisedTo: timeOf(report.recognisedTo),
    },
    ledgerAccountId: report.ledgerAccountId.toString(),
    opening: paid(report.openingMinor),
    lines: lines.map(({ move, family, amountMinor, transactions }) => ({
      ...{ move, family, amount: paid(amountMinor), transactions: transactions.toString() },
    })),
    closing: paid(report.closingMinor),
    lots: {
      paid: paid(lots.paidMinor),
      recognised: paid(lots.recognisedMinor),
      pendingRefunds: paid(lots.pendingMinor),
      deferred: paid(lots.deferredMinor),
      unusedCredits: viewAmount(lots.unusedCredits),
    },
    agrees,
  };
}
