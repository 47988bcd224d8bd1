import { column } from '../ui/lists/columns.js';
import { AccountLink, ChargeLink, TransactionLinks } from './transaction-links.js';

/** A customer's account, leading to its ledger accounts. */
export function accountColumn<Name extends string>(field: Name, header: string) {
  return column(field, header, (row: Record<Name, string | null>) => <AccountLink id={row[field]} />);
}

/** A charge, leading to what it earned and cost. */
export function chargeColumn<Name extends string>(field: Name, header: string) {
  return column(field, header, (row: Record<Name, string | null>) => <ChargeLink id={row[field]} />);
}

/** A transaction of the ledger, leading to its entries. */
export function transactionColumn<Name extends string>(field: Name, header: string) {
  return column(field, header, (row: Record<Name, string | null>) => <TransactionLinks ids={[row[field]]} />);
}

export function transactionsColumn<Name extends string>(field: Name, header: string) {
  return column(field, header, (row: Record<Name, readonly string[]>) => (
    <TransactionLinks ids={row[field]} />
  ));
}
