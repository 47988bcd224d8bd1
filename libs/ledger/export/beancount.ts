import type { LedgerKind } from '../reports/trial-balance.js';
import {
  chainWords,
  exactly,
  type JournalAccount,
  type JournalBalance,
  type JournalFormat,
  oneLine,
  perAccount,
} from './journal.js';
import { dayAfter } from './range.js';

/** Beancount has five types of accounts, named by their first word. */
const ROOTS: Record<LedgerKind, string> = {
  asset: 'Assets',
  liability: 'Liabilities',
  revenue: 'Income',
  contra: 'Equity',
  expense: 'Expenses',
  clearing: 'Liabilities',
};

/** Before anything was posted. */
const OPEN_DAY = '1970-01-01';

/** `customer:01k…:main` is `Liabilities:Customer:01k…:Main`: each part begins with a capital or a digit. */
export function beancountAccount({ code, kind }: Pick<JournalAccount, 'code' | 'kind'>): string {
  const parts = code.split(':').map((part) => {
    const plain = part.replace(/[^A-Za-z0-9-]/g, (odd) => `-u${odd.codePointAt(0)?.toString(16)}-`);
    return /^[A-Z0-9]/.test(plain)
      ? plain
      : /^[a-z]/.test(plain)
        ? plain[0]?.toUpperCase() + plain.slice(1)
        : `X${plain}`;
  });
  return [ROOTS[kind], ...parts].join(':');
}

const nameOf = perAccount(beancountAccount);

/** In Beancount debits are positive. */
function posting({ account, balance }: JournalBalance): string {
  return `  ${nameOf(account)}  ${exactly(-balance, account.unit)} ${account.unit.symbol}\n`;
}

function quoted(text: string): string {
  return `"${oneLine(text).replace(/[\\"]/g, '\\$&')}"`;
}

function meta(name: string, value: string | null): string {
  return value === null ? '' : `  ${name}: ${quoted(value)}\n`;
}

/** A file for `bean-check` that opens currencies and accounts, with exact assertions at the end of each day. */
export const beancountFormat: JournalFormat = {
  mediaType: 'text/plain; charset=utf-8',
  extension: 'beancount',
  head: ({ about, chain }, units) =>
    `; ${oneLine(about)}\n${chain ? `; ${chainWords(chain)}\n` : ''}${units.map(({ symbol }) => `${OPEN_DAY} commodity ${symbol}\n`).join('')}`,
  account: (account) => `${OPEN_DAY} open ${beancountAccount(account)} ${account.unit.symbol}\n`,
  opening: (day, balances, isFirst) =>
    `${isFirst ? `\n${day} * "opening balances"\n` : ''}${balances.map(posting).join('')}`,
  transaction: ({ day, id, kind, reference, chargeId, recordedAt, effectiveAt, entries }) =>
    `\n${day} * ${quoted(kind)}\n` +
    meta('transaction', id) +
    meta('reference', reference) +
    meta('charge', chargeId) +
    meta('recorded', recordedAt) +
    meta('effective', effectiveAt) +
    entries.map(({ account, amount }) => posting({ account, balance: amount })).join(''),
  // Beancount checks balances before the first posting of a day, so those at the end of a day are asserted on the next one.
  balances: (day, balances) =>
    `\n${balances
      .map(
        ({ account, balance }) =>
          `${dayAfter(day)} balance ${nameOf(account)}  ${exactly(-balance, account.unit)} ~ 0 ${account.unit.symbol}\n`,
      )
      .join('')}`,
};
