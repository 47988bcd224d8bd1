import { formatDecimal } from '#money/amount.js';
import { minorDigits } from '#money/currency.js';
import type { ChainHead } from '../chain/chain.js';
import type { LedgerAccount } from '../reports/ledger-account-statement.js';

/** An account of a journal. Customers' accounts can be combined into one. */
export interface JournalAccount extends Pick<LedgerAccount, 'code' | 'kind'> {
  unit: AmountUnit;
}

/** The unit of amounts: its symbol, and the number of decimals in the integer amounts. */
export interface AmountUnit {
  symbol: string;
  decimals: number;
}

interface JournalEntry {
  account: JournalAccount;
  /** Positive is a credit, as in the ledger. */
  amount: bigint;
}

export interface JournalTransaction {
  /** The UTC day on which it was recorded or, by effective time, happened. */
  day: string;
  /** Null for the summary of a day. */
  id: string | null;
  recordedAt: string | null;
  effectiveAt: string | null;
  kind: string;
  reference: string | null;
  chargeId: string | null;
  entries: JournalEntry[];
}

export interface JournalBalance {
  account: JournalAccount;
  balance: bigint;
}

/**
 * The contents of a file. It contains the chain's head, so that there is a copy outside the database, out of reach of anyone
 * who changes it.
 */
interface JournalHead {
  about: string;
  /** Null if nothing has been sealed yet. */
  chain: ChainHead | null;
}

export function chainWords({ number, hash, lastId, sealedAt }: ChainHead): string {
  return `chain block ${number} hash ${hash} up to transaction ${lastId}, sealed ${sealedAt}`;
}

/** An export format. Pure: each method returns text. Everything is in order of days. */
export interface JournalFormat {
  readonly mediaType: string;
  readonly extension: string;
  /** The range of the export, the units, and the accounts that can follow. */
  head(head: JournalHead, units: readonly AmountUnit[]): string;
  account(account: JournalAccount): string;
  /** The opening balances of a journal, without those that are 0. They come in parts that form one transaction. */
  opening(day: string, balances: readonly JournalBalance[], isFirst: boolean): string;
  transaction(transaction: JournalTransaction): string;
  /** The balances of accounts at the end of a day, for programs to check. */
  balances(day: string, balances: readonly JournalBalance[]): string;
}

const CRD: AmountUnit = { symbol: 'CRD', decimals: 9 };
const UPC: AmountUnit = { symbol: 'UPC', decimals: 9 };

/**
 * The unit of an account. PAY is the payment currency, except for accounts whose code ends in another currency. Currencies
 * never mix.
 */
export function unitOf(
  { code, commodity }: Pick<LedgerAccount, 'code' | 'commodity'>,
  currency: string,
): AmountUnit {
  if (commodity === 'CRD') return CRD;
  if (commodity === 'UPC') return UPC;
  const foreign = /^(?:psp:.*|suspense:pay|bank|expense:psp-fee):([A-Z]{3})$/.exec(code)?.[1];
  const symbol = foreign ?? currency;
  return { symbol, decimals: minorDigits(symbol) };
}

/** With all decimals: 20000000n of CRD is "0.020000000". */
export function exactly(amount: bigint, { decimals }: AmountUnit): string {
  const digits = amount < 0n ? -amount : amount;
  return `${amount < 0n ? '-' : ''}${formatDecimal({ digits, scale: decimals })}`;
}

/** The text of an account, created once while the account is in memory, because each has many entries. */
export function perAccount<T>(make: (account: JournalAccount) => T): (account: JournalAccount) => T {
  const made = new WeakMap<JournalAccount, { text: T }>();
  return (account) => {
    let known = made.get(account);
    if (!known) made.set(account, (known = { text: make(account) }));
    return known.text;
  };
}

/** Turns text into one line, for places where a line break would end a statement. */
export function oneLine(text: string): string {
  // oxlint-disable-next-line no-control-regex -- control characters are what is replaced
  return text.replace(/[\u0000-\u001f\u007f\u0085\u2028\u2029]+/g, ' ');
}
