import { formatDecimal } from '#money/amount.js';
import { minorDigits } from '#money/currency.js';
import type { ChainHead } from '../chain/chain.js';
import type { LedgerAccount } from '../reports/ledger-account-statement.js';

/** An account of a journal; customers' accounts may be summed as one. */
export interface JournalAccount extends Pick<LedgerAccount, 'code' | 'kind'> {
  unit: AmountUnit;
}

/** What amounts are in: the symbol, and how many decimals the integer amounts have. */
export interface AmountUnit {
  symbol: string;
  decimals: number;
}

interface JournalEntry {
  account: JournalAccount;
  /** Positive is a credit, as the ledger has it. */
  amount: bigint;
}

export interface JournalTransaction {
  /** Of UTC, when it was recorded. */
  day: string;
  /** Null for a summary of a day. */
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

/** What a file is of. The chain's head in it is outside of the database then, where nobody who changes that reaches it. */
interface JournalHead {
  about: string;
  /** Null: nothing was sealed yet. */
  chain: ChainHead | null;
}

/** What the head of the chain is, in words. */
export function chainWords({ number, hash, lastId, sealedAt }: ChainHead): string {
  return `chain block ${number} hash ${hash} up to transaction ${lastId}, sealed ${sealedAt}`;
}

/** A format of exports: pure, each method answers text. Everything comes in the order of days. */
export interface JournalFormat {
  readonly mediaType: string;
  readonly extension: string;
  /** What was exported, the units and the accounts that may follow. */
  head(head: JournalHead, units: readonly AmountUnit[]): string;
  account(account: JournalAccount): string;
  /**
   * Balances that a journal begins with, on the day of its beginning; without those that are 0. They come in parts that are
   * one transaction together.
   */
  opening(day: string, balances: readonly JournalBalance[], isFirst: boolean): string;
  transaction(transaction: JournalTransaction): string;
  /** What accounts hold at the end of a day; programs check it. */
  balances(day: string, balances: readonly JournalBalance[]): string;
}

const CRD: AmountUnit = { symbol: 'CRD', decimals: 9 };
const UPC: AmountUnit = { symbol: 'UPC', decimals: 9 };

/**
 * The unit of an account: PAY is the house's currency, but for accounts whose code ends in another one, which never mix.
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

/** What is written of an account, made once for as long as the account is known: there are many entries of each. */
export function perAccount<T>(make: (account: JournalAccount) => T): (account: JournalAccount) => T {
  const made = new WeakMap<JournalAccount, { text: T }>();
  return (account) => {
    let known = made.get(account);
    if (!known) made.set(account, (known = { text: make(account) }));
    return known.text;
  };
}

/** One line, for places where a line's end would end a statement. */
export function oneLine(text: string): string {
  // oxlint-disable-next-line no-control-regex -- control characters are what is replaced
  return text.replace(/[\u0000-\u001f\u007f\u0085\u2028\u2029]+/g, ' ');
}
