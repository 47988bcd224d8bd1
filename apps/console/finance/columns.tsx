import { Stack } from '@mantine/core';
import { column } from '../ui/lists/columns.js';
import { SmallWhen, When } from '../ui/time/when.js';
import { AccountLink, ChargeLink, TransactionLinks } from './transaction-links.js';

/** Links to the ledger accounts of a customer. */
export function accountColumn<Name extends string>(field: Name, header: string) {
  return column(field, header, (row: Record<Name, string | null>) => <AccountLink id={row[field]} />);
}

/** Links to what a charge earned and cost. */
export function chargeColumn<Name extends string>(field: Name, header: string) {
  return column(field, header, (row: Record<Name, string | null>) => <ChargeLink id={row[field]} />);
}

/** Links to the entries of a ledger transaction. */
export function transactionColumn<Name extends string>(field: Name, header: string) {
  return column(field, header, (row: Record<Name, string | null>) => <TransactionLinks ids={[row[field]]} />);
}

export function transactionsColumn<Name extends string>(field: Name, header: string) {
  return column(field, header, (row: Record<Name, readonly string[]>) => (
    <TransactionLinks ids={row[field]} />
  ));
}

/** From when a version is in force, and until when. */
export function inForceColumn(header: string, { always, until }: { always: string; until: string }) {
  return column('from', header, (row: { effectiveFrom: string | null; until: string | null }) => (
    <Stack gap={0}>
      <span>{row.effectiveFrom === null ? always : <When at={row.effectiveFrom} />}</span>
      <SmallWhen label={until} at={row.until} />
    </Stack>
  ));
}
