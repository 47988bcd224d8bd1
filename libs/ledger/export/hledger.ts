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

/** hledger's account types. Issued credits are offset by what is owed for them. */
const TYPES: Record<LedgerKind, string> = {
  asset: 'A',
  liability: 'L',
  revenue: 'R',
  contra: 'E',
  expense: 'X',
  clearing: 'L',
};

const nameOf = perAccount(accountName);

/** The line of an amount. In hledger debits are positive, and two spaces end the name of an account. */
function posting({ account, balance }: JournalBalance): string {
  return `    ${nameOf(account)}  ${exactly(-balance, account.unit)} ${account.unit.symbol}\n`;
}

function accountName({ code }: JournalAccount): string {
  return oneLine(code).replace(/ {2,}/g, ' ').replace(/;/g, ',');
}

/** The text after a date. A semicolon would begin a comment, and a comma would end a tag. */
function description(text: string): string {
  return oneLine(text).replace(/[;|]/g, ',');
}

function tag(name: string, value: string | null): string {
  return value === null ? '' : `    ; ${name}:${oneLine(value).replace(/,/g, ' ')}\n`;
}

/** A journal for `hledger check --strict`: accounts and commodities are declared, and every day ends with assertions. */
export const hledgerFormat: JournalFormat = {
  mediaType: 'text/plain; charset=utf-8',
  extension: 'journal',
  head: ({ about, chain }, units) =>
    `; ${oneLine(about)}\n${chain ? `; ${chainWords(chain)}\n` : ''}${units
      .map(({ symbol, decimals }) => `commodity 1000.${'0'.repeat(decimals)} ${symbol}\n`)
      .join('')}`,
  account: (account) => `account ${accountName(account)}  ; type:${TYPES[account.kind]}\n`,
  opening: (day, balances, isFirst) =>
    `${isFirst ? `\n${day} * opening balances\n` : ''}${balances.map(posting).join('')}`,
  transaction: ({ day, id, kind, reference, chargeId, recordedAt, effectiveAt, entries }) =>
    `\n${day} *${id === null ? '' : ` (${id})`} ${description(kind)}\n` +
    tag('reference', reference) +
    tag('charge', chargeId) +
    tag('recorded', recordedAt) +
    tag('effective', effectiveAt) +
    entries.map(({ account, amount }) => posting({ account, balance: amount })).join(''),
  balances: (day, balances) =>
    balances.length === 0
      ? ''
      : `\n${day} * balances\n${balances
          .map(({ account, balance }) => {
            const { unit } = account;
            return `    ${nameOf(account)}  0 ${unit.symbol} = ${exactly(-balance, unit)} ${unit.symbol}\n`;
          })
          .join('')}`,
};
