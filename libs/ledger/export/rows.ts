import type { ChainHead } from '../chain/chain.js';
import {
  chainWords,
  exactly,
  type JournalBalance,
  type JournalFormat,
  type JournalTransaction,
} from './journal.js';

/** One row of a CSV file or of JSON Lines; what does not apply is null. Amounts as the ledger has them: positive is a credit. */
interface Row {
  record: 'chain' | 'opening' | 'entry' | 'balance';
  day: string;
  transaction: string | null;
  recordedAt: string | null;
  effectiveAt: string | null;
  kind: string | null;
  reference: string | null;
  charge: string | null;
  account: string | null;
  amount: string | null;
  balance: string | null;
  commodity: string | null;
}

const NOTHING = {
  ...{ transaction: null, recordedAt: null, effectiveAt: null, kind: null, reference: null, charge: null },
  ...{ amount: null, balance: null },
};

function balanceRow(record: 'opening' | 'balance', day: string, { account, balance }: JournalBalance): Row {
  const { code, unit } = account;
  return {
    ...{ record, day, ...NOTHING, account: code },
    ...{ balance: exactly(balance, unit), commodity: unit.symbol },
  };
}

/** The head of the chain: the transaction that it goes up to, and its hash as the reference. */
function chainRow({ number, hash, lastId, sealedAt }: ChainHead): Row {
  return {
    ...{ record: 'chain', day: sealedAt.slice(0, 10), ...NOTHING, account: null, commodity: null },
    ...{ transaction: lastId.toString(), recordedAt: sealedAt, kind: `block ${number}`, reference: hash },
  };
}

function entryRows({ id, entries, chargeId, ...transaction }: JournalTransaction): Row[] {
  return entries.map(({ account: { code, unit }, amount }) => ({
    ...NOTHING,
    record: 'entry' as const,
    transaction: id,
    ...transaction,
    charge: chargeId,
    account: code,
    amount: exactly(amount, unit),
    commodity: unit.symbol,
  }));
}

const COLUMNS: Record<keyof Row, string> = {
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

/** Quoted where it must be; a spreadsheet would run a text that begins like a formula. */
function cell(value: string | null): string {
  if (value === null) return '';
  const harmless = /^[=+\-@\t\r]/.test(value) && !/^-\d+(\.\d+)?$/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(harmless) ? `"${harmless.replace(/"/g, '""')}"` : harmless;
}

function formatOfRows(
  line: (row: Row) => string,
  rest: Pick<JournalFormat, 'mediaType' | 'extension' | 'head' | 'account'>,
): JournalFormat {
  const lines = (rows: Row[]) => rows.map(line).join('');
  return {
    ...rest,
    opening: (day, balances) => lines(balances.map((each) => balanceRow('opening', day, each))),
    transaction: (transaction) => lines(entryRows(transaction)),
    balances: (day, balances) => lines(balances.map((each) => balanceRow('balance', day, each))),
  };
}

const names = Object.keys(COLUMNS) as (keyof Row)[];

const csvLine = (row: Row): string => `${names.map((name) => cell(row[name])).join(',')}\r\n`;

export const csvFormat = formatOfRows(csvLine, {
  mediaType: 'text/csv; charset=utf-8',
  extension: 'csv',
  head: ({ chain }) => `${Object.values(COLUMNS).join(',')}\r\n${chain ? csvLine(chainRow(chain)) : ''}`,
  account: () => '',
});

const jsonLine = (value: object): string => `${JSON.stringify(value)}\n`;

export const jsonLinesFormat = formatOfRows(jsonLine, {
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
});
