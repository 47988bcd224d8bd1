import { moneyText } from '#money/currency.js';
import { type Control, type ControlItem, REPORT_OVERDUE_MS } from '../../control.js';
import { withOverdue } from '../overdue.js';
import { FAULTY, type MatchedItem, type MatchKind } from './match.js';
import { findOverdueReports, type OverdueReport } from './overdue-reports.js';
import { findFaultyMatches } from './payment-matching.js';

const NOUNS: Record<MatchKind, string> = {
  payment: 'payment',
  refund: 'refund',
  return: 'refund of a payment in suspense',
  dispute: 'dispute',
  adjustment: 'adjustment',
  fee: 'fee',
  payout: 'payout',
  payout_failure: 'returned payout',
};

export const paymentsControl: Control = {
  id: 'payments',
  title: 'Payments against provider reports',
  explanation:
    "Compares top-ups, money in suspense, refunds and disputes with each provider's reports, in both directions. Book what our side lacks from its report line. Ask the provider about what their side lacks.",
  states: ['report_overdue', ...FAULTY],
  window: true,
  check: async (client, { graceMs, before, since = null, limit, reportOverdueMs = REPORT_OVERDUE_MS }) => {
    const { count, items } = await findFaultyMatches(client, { graceMs, before, since, limit });
    // For the end of a period each payment not covered by a report counts separately.
    const overdue = before === null ? await findOverdueReports(client, reportOverdueMs) : [];
    return withOverdue(overdue.map(overdueItem), { count, items: items.map(controlItem) }, limit);
  },
};

function overdueItem({ provider, until, firstAt }: OverdueReport): ControlItem {
  return {
    subject: `report:${provider}`,
    state: 'report_overdue',
    message:
      until === null
        ? `No report of ${provider} was ever imported, although it has taken payments since ${firstAt}.`
        : `The reports of ${provider} end at ${until}, although it has taken payments since then.`,
    details: { provider, until, firstAt, how: until === null ? 'never' : null },
    transactionIds: [],
    at: 'infinity',
  };
}

function controlItem(item: MatchedItem): ControlItem {
  const { provider, kind, id, state, ours, theirs } = item;
  return {
    subject: `${kind}:${provider}:${id}`,
    // The query selects only these.
    state: state as (typeof FAULTY)[number],
    message: matchSentence(item),
    details: {
      provider,
      kind,
      reference: id,
      how: howOf(item),
      ours: ours && moneyText(ours.amountMinor, ours.currency),
      oursAt: ours && ours.at,
      theirs: theirs && moneyText(theirs.amountMinor, theirs.currency),
      theirsAt: theirs && theirs.at,
      lines: theirs && theirs.lineIds.join(' '),
    },
    transactionIds: ours?.transactionIds ?? [],
    at: item.at,
  };
}

/** Chooses among the sentences of its state. */
function howOf({ state, ours, changed }: MatchedItem): string | null {
  if (state === 'twice') return isTwiceHere(ours) ? 'here' : null;
  return state === 'differs' && changed ? 'versions' : null;
}

function isTwiceHere(ours: MatchedItem['ours']): boolean {
  return ours !== null && ours.transactionIds.length > 1;
}

/** The result of a comparison, for people. */
export function matchSentence(item: MatchedItem): string {
  const { provider, kind, id, state, ours, theirs } = item;
  const what = `The ${NOUNS[kind]} ${id}`;
  const here = ours && moneyText(ours.amountMinor, ours.currency);
  const there = theirs && moneyText(theirs.amountMinor, theirs.currency);
  switch (state) {
    case 'matched':
      return `${what} agrees with ${provider}: ${here ?? there ?? 'nothing in the end'}.`;
    case 'accepted':
      return `${what} was reported by ${provider} in two versions, and someone accepted one: ${here ?? there ?? 'nothing in the end'}.`;
    case 'not_covered':
      return `${what} of ${here} is in our books, but no ${provider} report covers its time.`;
    case 'waiting':
      return `${what} is waiting: ${ours === null ? 'it has only just happened' : `no ${provider} report covers its time yet`}.`;
    case 'missing_here':
      return `${what} of ${there} is in the ${provider} report but not in our books.`;
    case 'missing_there':
      return `${what} of ${here} is in our books but not in the ${provider} report.`;
    case 'twice':
      return isTwiceHere(ours)
        ? `${what} is in our books twice: ${here} in total, ${there ?? 'nothing'} at ${provider}.`
        : `${what} is in the ${provider} report twice: ${there} in total, ${here ?? 'nothing'} in our books.`;
    case 'differs':
      return item.changed
        ? `${what} was reported by ${provider} in two versions: first as ${there}, then differently.`
        : `${what} is ${here} in our books and ${there} at ${provider}.`;
  }
}
