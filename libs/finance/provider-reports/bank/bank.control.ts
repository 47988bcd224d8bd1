import { moneyText } from '#money/currency.js';
import { type Control, type ControlItem, REPORT_OVERDUE_MS } from '../../control.js';
import { withOverdue } from '../overdue.js';
import {
  type BankItem,
  FAULTY_BANK,
  findFaultyBankItems,
  findOverdueFiles,
  type OverdueFiles,
} from './bank-matching.js';

export const bankControl: Control = {
  id: 'bank',
  title: 'Bank lines against payouts and transfers',
  explanation:
    'Compares bank lines with payouts, transfers recorded as top-ups, and returned payments. Explain unrecorded lines, and ask the bank about payments that did not arrive.',
  states: ['report_overdue', ...FAULTY_BANK],
  check: async (client, { before, limit, reportOverdueMs = REPORT_OVERDUE_MS }) => {
    const { count, items } = await findFaultyBankItems(client, { before, limit });
    const overdue = before === null ? await findOverdueFiles(client, reportOverdueMs) : [];
    return withOverdue(overdue.map(overdueItem), { count, items: items.map(controlItem) }, limit);
  },
};

function overdueItem({ bankAccountId, until, firstAt }: OverdueFiles): ControlItem {
  const account = bankAccountId === null ? 'a bank' : `the bank account ${bankAccountId}`;
  return {
    subject: bankAccountId === null ? 'report:bank' : `report:bank:${bankAccountId}`,
    state: 'report_overdue',
    message:
      until === null
        ? `No file of ${account} was ever imported, although transfers or payouts have been expected since ${firstAt}.`
        : `The files of ${account} end at ${until}, although transfers or payouts have been expected since then.`,
    details: { bankAccount: bankAccountId, until, firstAt, how: until === null ? 'never' : null },
    transactionIds: [],
  };
}

function controlItem(item: BankItem): ControlItem {
  return {
    subject: item.kind === 'line' ? `bank-line:${item.id}` : `${item.kind}:${item.id}`,
    // The query selects only these.
    state: item.state as (typeof FAULTY_BANK)[number],
    message: bankSentence(item),
    details: {
      kind: item.kind,
      amount: moneyText(item.amountMinor, item.currency),
      at: item.at,
      bankAccount: item.bankAccountId,
      reference: item.reference,
      counterpart: item.counterpart && `${item.counterpart.kind}:${item.counterpart.subject}`,
      refusal: item.refusal,
    },
    transactionIds: item.transactionIds,
  };
}

const KIND_NAMES: Record<BankItem['kind'], string> = {
  line: 'bank line',
  payout: 'payout',
  topup: 'top-up',
  refund: 'refund',
  suspense: 'suspense item',
};

type BankFacts = Omit<BankItem, 'at' | 'bankAccountId' | 'transactionIds'>;

function subjectOf({ kind, id, amountMinor, currency, reference }: BankFacts): string {
  const money = moneyText(amountMinor, currency);
  const name = kind === 'line' ? 'bank line' : `${KIND_NAMES[kind]} ${id}`;
  return `The ${name} of ${money} (${reference})`;
}

export function bankSentence(item: BankFacts): string {
  const { state, counterpart, refusal } = item;
  const what = subjectOf(item);
  const other = counterpart ? `the ${counterpart.kind} ${counterpart.subject}` : 'nothing';
  switch (state) {
    case 'matched':
      return `${what} is ${other}.`;
    case 'set_aside':
      return `${what} was marked as unrelated to us.`;
    case 'waiting':
      return `${what} is not in any bank file yet.`;
    case 'not_covered':
      return `${what} is not in any bank file, and no file covers its time.`;
    case 'refused':
      return `${what} is ${other}, and its posting was refused: ${refusal}.`;
    case 'missing_here':
      return `${what} is not in our books.`;
    case 'missing_there':
      return `${what} is not at the bank.`;
    case 'differs':
      return `${what} names ${other}, which has another amount, or was unlinked from it by a person.`;
    case 'twice':
      return `${what} names ${other}, which another line already matches.`;
  }
}
