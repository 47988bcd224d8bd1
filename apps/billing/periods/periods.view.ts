import type { z } from 'zod';
import type { LatePosting, Period, PeriodBalance } from '#finance/periods/period.js';
import type { Waiver } from '#finance/periods/waiver.js';
import { timeOf, trialBalanceView } from '../finance/ledger.view.js';
import type { periodView, waiverView } from './periods.routes.js';

export function viewPeriod(period: Period): z.input<typeof periodView> {
  const { id, startsAt, endsAt, recordedBefore, begunAt, endedAt, requestId: _, graceMs, ...rest } = period;
  const { checklist, waivers } = rest;
  return {
    ...rest,
    // What closed when one person could waive has no names of two.
    checklist: checklist.map((item) => ({ ...item, waiverId: item.waiverId ?? null })),
    waivers: waivers.map(({ item, reason, count = null, requestedBy = null, approvedBy = null }) => {
      return { item, reason, count, requestedBy, approvedBy };
    }),
    id: id.toString(),
    startsAt: startsAt?.toISOString() ?? null,
    endsAt: endsAt.toISOString(),
    recordedBefore: recordedBefore && timeOf(recordedBefore),
    begunAt: begunAt.toISOString(),
    endedAt: endedAt?.toISOString() ?? null,
    graceSeconds: graceMs === null ? null : graceMs / 1000,
  };
}

export function viewBalances(balances: PeriodBalance[], currency: string) {
  const report = { by: 'effective', at: 'infinity', recordedBefore: 'infinity', totals: [] } as const;
  return trialBalanceView({ ...report, totals: [], balances }, currency).balances;
}

export function viewLate(late: LatePosting) {
  const { transactionId, kind, reference, accountId, happenedAt, recordedAt } = late;
  return {
    ...{ transactionId: transactionId.toString(), kind, reference, accountId },
    ...{ happenedAt: happenedAt.toISOString(), recordedAt: recordedAt.toISOString() },
  };
}

export function viewWaiver({ end, recordedAt, findings, ...waiver }: Waiver): z.input<typeof waiverView> {
  return {
    ...waiver,
    findings: findings && [...findings],
    end: end.toISOString(),
    recordedAt: recordedAt.toISOString(),
  };
}
