import type { ChainHead } from '../chain/chain.js';
import {
  chainWords,
  exactly,
  type JournalBalance,
  type JournalFormat,
  type JournalTransaction,
  perAccount,
} from './journal.js';

const COLUMNS = {
  record: 'record',
  day: 'day',
  transaction: 'transaction',
  recordedAt: 'recorded_at',
  effectiveAt: 'effective_at',
  kind: 'kind',
  reference: 'reference',
  charge: 'charge',
  account: 'account',
  amount: 'amount',
  balance: 'balance',
  commodity: 'commodity',
};

/** One row of a CSV or JSON Lines file. Fields that do not apply are null. Amounts as in the ledger: positive is a credit. */
type Row = Record<keyof typeof COLUMNS, string | null>;

const NOTHING = {
  transaction: null,
  recordedAt: null,
  effectiveAt: null,
  kind: null,
  reference: null,
  charge: null,
  amount: null,
  balance: null,
};

function balanceRow(record: 'opening' | 'balance', day: string, { account, balance }: JournalBalance): Row {
  const { code, unit } = account;
  return {
    record,
    day,
    ...NOTHING,
    account: code,
    balance: exactly(balance, unit),
    commodity: unit.symbol,
  };
}

/** The head of the chain: its last transaction, and its hash as the reference. */
function chainRow({ number, hash, lastId, sealedAt }: ChainHead): Row {
  return {
    record: 'chain',
    day: sealedAt.slice(0, 10),
    ...NOTHING,
    account: null,
    commodity: null,
    transaction: lastId.toString(),
    recordedAt: sealedAt,
    kind: `block ${number}`,
    reference: hash,
  };
}

/** Quoted if needed. A spreadsheet would run a text that begins like a formula. */
function cell(value: string | null): string {
  if (value === null) return '';
  const harmless = /^[=+\-@\t\r]/.test(value) && !/^-\d+(\.\d+)?$/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replace(/"/g, '""')}"` : harmless;
}

type Lines = Pick<JournalFormat, 'opening' | 'balances'>;

function linesOf(line: (row: Row) => string): Lines {
  const lines = (rows: Row[]) => rows.map(line).join('');
  return {
    opening: (day, balances) => lines(balances.map((each) => balanceRow('opening', day, each))),
    balances: (day, balances) => lines(balances.map((each) => balanceRow('balance', day, each))),
  };
}

const names = Object.keys(COLUMNS) as (keyof Row)[];
const csvLine = (row: Row): string => `${names.map((name) => cell(row[name])).join(',')}\r\n`;

const cellsOf = perAccount(({ code, unit }) => ({ account: cell(code), commodity: cell(unit.symbol) }));

/** There are millions of entries, so what those of a transaction share is written once. */
function csvEntries(transaction: JournalTransaction): string {
  const { day, id, recordedAt, effectiveAt, kind, reference, chargeId, entries } = transaction;
  const times = `${id ?? ''},${recordedAt ?? ''},${effectiveAt ?? ''}`;
  const common = `entry,${day},${times},${cell(kind)},${cell(reference)},${cell(chargeId)}`;
  let text = '';
  for (const { account, amount } of entries) {
    const { account: code, commodity } = cellsOf(account);
    text += `${common},${code},${exactly(amount, account.unit)},,${commodity}\r\n`;
  }
  return text;
}

export const csvFormat: JournalFormat = {
  mediaType: 'text/csv; charset=utf-8',
  extension: 'csv',
  head: ({ chain }) => `${Object.values(COLUMNS).join(',')}\r\n${chain ? csvLine(chainRow(chain)) : ''}`,
  account: () => '',
  transaction: csvEntries,
  ...linesOf(csvLine),
};

const jsonLine = (value: object): string => `${JSON.stringify(value)}\n`;

const jsonOf = perAccount(({ code, unit }) =>
  JSON.stringify({ account: code, commodity: unit.symbol }).slice(1),
);

function jsonEntries({ id, entries, chargeId, ...transaction }: JournalTransaction): string {
  const head = { record: 'entry', transaction: id, ...transaction, charge: chargeId, balance: null };
  const common = JSON.stringify(head).slice(0, -1);
  let text = '';
  for (const { account, amount } of entries)
    text += `${common},"amount":"${exactly(amount, account.unit)}",${jsonOf(account)}\n`;
  return text;
}

export const jsonLinesFormat: JournalFormat = {
  mediaType: 'application/jsonl',
  extension: 'jsonl',
  head: ({ about, chain }, units) =>
    [
      { record: 'export', about, chain: chain && chainWords(chain) },
      ...units.map((unit) => ({ record: 'commodity', ...unit })),
    ]
      .map(jsonLine)
      .join(''),
  account: ({ code, kind, unit }) =>
    jsonLine({ record: 'account', account: code, kind, commodity: unit.symbol }),
  transaction: jsonEntries,
  ...linesOf(jsonLine),
};
