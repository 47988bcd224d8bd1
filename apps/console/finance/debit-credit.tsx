import { ScrollArea, Paper, Table } from '@mantine/core';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { addDecimals, signOf } from '../ui/decimal.js';
import { Money } from '../ui/money.js';

export interface DebitCreditLine {
  key: string;
  name: ReactNode;
  unit: string;
  /** As in the ledger: positive is a credit. */
  amount: string;
}

interface DebitCreditProps {
  label: string;
  heading: string;
  lines: readonly DebitCreditLine[];
}

/** Debits and credits in two columns, with totals for each unit. */
export function DebitCredit({ label, heading, lines }: DebitCreditProps) {
  return (
    <Paper withBorder>
      <ScrollArea.Autosize type="auto">
        <Table className="data-list phone-rows sides" aria-label={label} verticalSpacing="row">
          <Head heading={heading} />
          <Table.Tbody>
            {lines.map((line) => (
              <Line key={line.key} line={line} />
            ))}
          </Table.Tbody>
          <Table.Tfoot>
            {[...Map.groupBy(lines, ({ unit }) => unit)].map(([unit, members]) => (
              <Totals key={unit} lines={members} />
            ))}
          </Table.Tfoot>
        </Table>
      </ScrollArea.Autosize>
    </Paper>
  );
}

function Head({ heading }: { heading: string }) {
  const { t } = useTranslation('finance');
  return (
    <Table.Thead>
      <Table.Tr>
        <Table.Th>{heading}</Table.Th>
        <Table.Th ta="right">{t('sides.debit')}</Table.Th>
        <Table.Th ta="right">{t('sides.credit')}</Table.Th>
      </Table.Tr>
    </Table.Thead>
  );
}

function Line({ line: { name, unit, amount } }: { line: DebitCreditLine }) {
  const isDebit = signOf(amount) < 0;
  return (
    <Table.Tr>
      <Table.Td data-phone="main">{name}</Table.Td>
      <Sides debit={isDebit ? amount.slice(1) : null} credit={isDebit ? null : amount} unit={unit} />
    </Table.Tr>
  );
}

/** All lines have the same unit. */
function Totals({ lines }: { lines: readonly DebitCreditLine[] }) {
  const { t } = useTranslation('finance');
  const { unit } = lines[0]!;
  const amounts = lines.map(({ amount }) => amount);
  return (
    <Table.Tr>
      <Table.Th scope="row" data-phone="main">
        {t('sides.total', { unit })}
      </Table.Th>
      <Sides debit={sumOf(amounts, -1).replace(/^-/, '')} credit={sumOf(amounts, 1)} unit={unit} isTotal />
    </Table.Tr>
  );
}

function sumOf(amounts: readonly string[], side: 1 | -1): string {
  return addDecimals('0', ...amounts.filter((amount) => signOf(amount) === side));
}

interface SidesProps {
  debit: string | null;
  credit: string | null;
  unit: string;
  isTotal?: boolean;
}

function Sides({ debit, credit, unit, isTotal = false }: SidesProps) {
  const { t } = useTranslation('finance');
  const weight = isTotal ? { fw: 600 } : {};
  const sides = [
    { name: t('sides.debit'), amount: debit },
    { name: t('sides.credit'), amount: credit },
  ];
  return sides.map(({ name, amount }) => (
    <Table.Td
      key={name}
      ta="right"
      data-label={name}
      data-phone={amount === null ? 'hidden' : 'below'}
      data-number
      {...weight}
    >
      {amount !== null && <Money value={amount} currency={unit} />}
    </Table.Td>
  ));
}
