import { plainDecimal } from '#money/amount.js';
import { type AmountUnit, unitOf } from '#ledger/export/journal.js';
import type { LedgerAccount, LedgerStatement } from '#ledger/reports/ledger-account-statement.js';
import { csvColumns } from '#platform/http/csv.js';
import { isoInstant } from '#platform/times.js';
import type { TrialBalance } from '#ledger/reports/trial-balance.js';

/** An amount of a unit as a decimal without trailing zeros. */
export function money(amount: bigint, { decimals: scale }: AmountUnit): string {
  const text = plainDecimal({ digits: amount < 0n ? -amount : amount, scale });
  return amount < 0n ? `-${text}` : text;
}

/** PostgreSQL's text of a time in UTC as ISO 8601; null for none. */
export function timeOf(text: string): string | null {
  return text.endsWith('infinity') ? null : isoInstant(text);
}

export function ledgerAccountView(account: LedgerAccount, currency: string) {
  const { id, code, kind, commodity, accountId } = account;
  return { id: id.toString(), code, kind, commodity, unit: unitOf(account, currency).symbol, accountId };
}

export function trialBalanceView(
  { by, at, recordedBefore, balances, totals }: TrialBalance,
  currency: string,
) {
  return {
    by,
    at: timeOf(at),
    recordedBefore: timeOf(recordedBefore),
    balances: balances.map(({ ledgerAccountId, balance, ...account }) => ({
      ...ledgerAccountView({ ...account, id: ledgerAccountId }, currency),
      balance: money(balance, unitOf(account, currency)),
    })),
    totals: totals.map(({ commodity, total }) => ({ commodity, total: total.toString() })),
  };
}

export function statementView(statement: LedgerStatement, currency: string) {
  const { account, by, from, to, recordedBefore, opening, closing, lines } = statement;
  const unit = unitOf(account, currency);
  return {
    account: ledgerAccountView(account, currency),
    by,
    from: from && timeOf(from),
    to: timeOf(to),
    recordedBefore: timeOf(recordedBefore),
    opening: money(opening, unit),
    closing: money(closing, unit),
    items: lines.map(({ ordinal: _, ...line }) => ({
      ...line,
      transactionId: line.transactionId.toString(),
      recordedAt: timeOf(line.recordedAt) as string,
      effectiveAt: timeOf(line.effectiveAt) as string,
      amount: money(line.amount, unit),
      balance: money(line.balance, unit),
    })),
  };
}

type BalanceView = ReturnType<typeof trialBalanceView>['balances'][number];

export const trialBalanceColumns = csvColumns<BalanceView>(
  ['account', ({ code }) => code],
  'kind',
  'unit',
  'balance',
);
