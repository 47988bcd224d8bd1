import { moneyText } from '#money/currency.js';
import { type Control, type ControlItem, REPORT_OVERDUE_MS } from '../../control.js';
import { withOverdue } from '../overdue.js';
import {
  FAULTY_PAYOUTS,
  findFaultyPayouts,
  findOverduePayouts,
  type OverduePayouts,
  type PayoutItem,
  sumOfParts,
} from './payout-matching.js';

export const payoutsControl: Control = {
  id: 'payouts',
  title: 'Payouts against their lines',
  explanation: 'Each payout should equal its payments minus fees, refunds and disputes.',
  states: ['report_overdue', ...FAULTY_PAYOUTS],
  check: async (client, { before, limit, reportOverdueMs = REPORT_OVERDUE_MS }) => {
    const { count, items } = await findFaultyPayouts(client, { before, limit });
    const overdue = before === null ? await findOverduePayouts(client, reportOverdueMs) : [];
    return withOverdue(overdue.map(overdueItem), { count, items: items.map(controlItem) }, limit);
  },
};

function overdueItem({ provider, firstAt, payouts }: OverduePayouts): ControlItem {
  return {
    subject: `report:${provider}:payouts`,
    state: 'report_overdue',
    message: `No report of the payouts of ${provider} goes far enough: lines name ${payouts} that no report has, since ${firstAt}.`,
    details: { provider, firstAt, payouts: payouts.toString() },
    transactionIds: [],
  };
}

function controlItem(item: PayoutItem): ControlItem {
  return {
    subject: `payout:${item.provider}:${item.payoutId}`,
    // The query selects only these.
    state: item.state as (typeof FAULTY_PAYOUTS)[number],
    message: payoutSentence(item),
    details: {
      provider: item.provider,
      reference: item.payoutId,
      how: howOf(item),
      amount: item.amountMinor === null ? null : money(item.amountMinor, item),
      ...Object.fromEntries(Object.entries(item.parts).map(([name, part]) => [name, money(part, item)])),
      lines: item.lines.toString(),
      sum: money(sumOfParts(item), item),
      at: item.at,
    },
    transactionIds: item.transactionIds,
  };
}

function money(minor: bigint, { currency }: Pick<PayoutItem, 'currency'>): string {
  return moneyText(minor, currency);
}

/** Chooses among the sentences of its state. */
function howOf(item: PayoutItem): string | null {
  if (item.state === 'not_covered') return item.lines === 0 ? 'lineless' : null;
  return item.state === 'differs' && isReportedTwice(item) ? 'versions' : null;
}

function isReportedTwice(item: PayoutItem): boolean {
  return item.amountMinor === null || item.amountMinor === sumOfParts(item);
}

export function payoutSentence(item: PayoutItem): string {
  const { provider, payoutId, state, lines, amountMinor } = item;
  const amount = amountMinor === null ? 'nothing' : money(amountMinor, item);
  const sum = sumOfParts(item);
  switch (state) {
    case 'matched':
      return `The payout ${payoutId} of ${amount} equals its ${lines} lines${item.returned ? '; it was returned' : ''}.`;
    case 'accepted':
      return `The payout ${payoutId} of ${amount} was reported in two versions or has no lines, and someone accepted that.`;
    case 'unlinked':
      return `The payout ${payoutId} of ${amount} has no lines: ${provider} does not say what it consists of.`;
    case 'lines_missing':
      return `The payout ${payoutId} of ${amount} has no lines, although ${provider} reports go beyond it.`;
    case 'not_covered':
      return lines === 0
        ? `The payout ${payoutId} of ${amount} has no lines, and no ${provider} report covers its time.`
        : `${lines} lines of ${money(sum, item)} name the payout ${payoutId}, but no ${provider} report covers its time.`;
    case 'waiting':
    case 'missing_there':
      return `${lines} lines of ${money(sum, item)} name the payout ${payoutId}, which no report contains${state === 'waiting' ? ' yet' : ''}.`;
    case 'twice':
      return `The payout ${payoutId} is in the ${provider} reports twice.`;
    case 'differs':
      return amountMinor === null || amountMinor === sum
        ? `The payout ${payoutId} was reported by ${provider} in two versions.`
        : `The payout ${payoutId} of ${amount} differs by ${money(amountMinor - sum, item)} from its ${lines} lines, which total ${money(sum, item)}.`;
  }
}
