import { ScrollArea, Paper, Table } from '@mantine/core';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { addDecimals, signOf } from '../ui/decimal.js';
import { Money } from '../ui/money.js';

export interface DebitCreditLine {
  key: string;
  name: ReactNode;
  unit: string;
  /** As the ledger has it: positive is a credit. */
  amount: string;
}

/** Amounts on two sides as bookkeepers read them, with the sum of each side for each unit. */
export function DebitCredit({
  label,
  heading,
  lines,
}: {
  label: string;
  heading: string;
  lines: readonly DebitCreditLine[];
}) {
  const { t } = useTranslation('finance');
  const units = [...new Set(lines.map(({ unit }) => unit))];
  return (
    <Paper withBorder>
      <ScrollArea.Autosize type="auto">
        <Table className="data-list phone-rows sides" aria-label={label} verticalSpacing="row">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{heading}</Table.Th>
              <Table.Th ta="right">{t('sides.debit')}</Table.Th>
              <Table.Th ta="right">{t('sides.credit')}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {lines.map(({ key, name, unit, amount }) => (
              <Table.Tr key={key}>
                <Table.Td data-phone="main">{name}</Table.Td>
                <Sides
                  debit={signOf(amount) < 0 ? amount.slice(1) : null}
                  credit={signOf(amount) < 0 ? null : amount}
                  unit={unit}
                />
              </Table.Tr>
            ))}
          </Table.Tbody>
          <Table.Tfoot>
            {units.map((unit) => (
              <Totals key={unit} lines={lines.filter((line) => line.unit === unit)} />
            ))}
          </Table.Tfoot>
        </Table>
      </ScrollArea.Autosize>
    </Paper>
  );
}

/** Of lines of one unit. */
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

function Sides({
  debit,
  credit,
  unit,
  isTotal = false,
}: {
  debit: string | null;
  credit: string | null;
  unit: string;
  isTotal?: boolean;
}) {
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
