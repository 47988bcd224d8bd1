import { Table, type TableProps } from '@mantine/core';
import { keyOf, type ListColumn, type RowKey } from './data-list.js';

interface PlainTableProps<Row> extends Pick<
  TableProps,
  'className' | 'layout' | 'stickyHeader' | 'verticalSpacing'
> {
  label: string;
  columns: readonly ListColumn<Row>[];
  rows: readonly Row[];
  rowKey: RowKey<Row>;
}

/** A small table of known rows. Use DataList for lists. */
export function PlainTable<Row>({ label, columns, rows, rowKey, ...table }: PlainTableProps<Row>) {
  return (
    <Table aria-label={label} {...table}>
      <Table.Thead>
        <Table.Tr>
          {columns.map(({ id, header, align }) => (
            <Table.Th key={id} ta={align}>
              {header}
            </Table.Th>
          ))}
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {rows.map((row) => (
          <Table.Tr key={keyOf(row, rowKey)}>
            {columns.map(({ id, header, align, cell }) => (
              <Table.Td key={id} data-label={header} ta={align}>
                {cell(row)}
              </Table.Td>
            ))}
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}
