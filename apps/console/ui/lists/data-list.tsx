import { Button, Group, Paper, ScrollArea, Skeleton, Table, UnstyledButton } from '@mantine/core';
import { IconArrowDown, IconArrowUp } from '@tabler/icons-react';
import { type MouseEvent, type ReactNode, useLayoutEffect, useMemo, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { useAddressPager } from '../address.js';
import { useTitle } from '../page.js';
import { EmptyState, ErrorState } from '../states.js';
import { ColumnChoice, useChosenColumns } from './column-choice.js';
import { ACTIONS, MENU, NONE, type PhonePlace, phonePlaces } from './phone-row.js';

export interface ListColumn<Row> {
  /** Unique in the list, and remembered when people choose columns. */
  id: string;
  header: string;
  cell: (row: Row) => ReactNode;
  /** Amounts and counts are aligned right. */
  align?: 'right';
  /** Hidden until people choose it. */
  isExtra?: boolean;
  /** What clicking the header sorts by. */
  sort?: string;
  /** A time is never a row's title on phones. */
  isTime?: boolean;
  isMoney?: boolean;
  /** Overrides the rule of `phone-row.ts`. */
  phone?: PhonePlace;
}

/** A query, or a part of its answer. */
export interface Listed<Row> {
  data: { items: readonly Row[]; nextCursor?: string | null } | undefined;
  error: unknown;
  refetch: () => unknown;
  isPlaceholderData?: boolean;
}

type Asked<Data> = { data: Data | undefined } & Omit<Listed<unknown>, 'data'>;

/** The rows in a part of an answer, or those that are the answer. */
export function rowsOf<Row>(query: Asked<readonly Row[]>): Listed<Row>;
export function rowsOf<Data, Row>(query: Asked<Data>, items: (data: Data) => readonly Row[]): Listed<Row>;
export function rowsOf<Data, Row>(
  query: Asked<Data>,
  items = (data: Data) => data as readonly Row[],
): Listed<Row> {
  const { data, error, refetch, isPlaceholderData = false } = query;
  return { data: data === undefined ? undefined : { items: items(data) }, error, refetch, isPlaceholderData };
}

/** Rows that need no loading. */
export function knownRows<Row>(items: readonly Row[]): Listed<Row> {
  return { data: { items }, error: null, refetch: () => undefined };
}

export interface ListTexts {
  /** For screen readers: by default, the title of what the list is in. */
  label?: string;
  /** Shown if there are no rows: what that means, and what to do. */
  empty: { title: string; hint: string; action?: ReactNode };
}

interface ListProps<Row> {
  query: Listed<Row>;
  columns: readonly ListColumn<Row>[];
  /** Rows are known by their `id`, unless the list says otherwise. */
  rowKey?: RowKey<Row>;
  /** Keeps the cursor of the page elsewhere than in the address. */
  pager?: { cursor: string | undefined; go: (cursor: string | undefined) => void };
  /** The order, such as `price` or `-price`, and its setter. */
  sorting?: { by: string | undefined; sort: (by: string) => void };
  /** Lets people choose columns, and remembers them under this name. */
  name?: string;
}

/** What tells rows apart: a field, or a function of the row. */
export type RowKey<Row> = Extract<keyof Row, string> | ((row: Row) => string);

export type RowsProps<Row> = ListProps<Row> & (Row extends { id: string } ? unknown : { rowKey: unknown });

type DataListProps<Row> = RowsProps<Row> & (ListTexts | { texts: ListTexts });

/** The six decimals of most amounts, and their point. */
const MOST_DECIMALS = 7;

/** A list with its loading, empty and error states and its pages. Use it for every list. On phones a row has two lines. */
export function DataList<Row>(props: DataListProps<Row>) {
  const { query, name } = props;
  const title = useTitle();
  const { label = title, empty } = 'texts' in props ? props.texts : props;
  const addressPager = useAddressPager();
  const pager = props.pager ?? (query.data?.nextCursor === undefined ? undefined : addressPager);
  const [shown, choose] = useChosenColumns(props.columns, name);
  if (query.error && query.data === undefined)
    return <ErrorState error={query.error} retry={() => void query.refetch()} />;
  const isEmpty = query.data?.items.length === 0;
  const isFirst = pager?.cursor === undefined;
  return (
    <Paper withBorder className={name ? 'with-columns' : undefined}>
      {name && !isEmpty && <ColumnChoice columns={props.columns} shown={shown} choose={choose} />}
      {isEmpty && isFirst ? (
        <EmptyState {...empty} />
      ) : (
        <ScrollArea.Autosize type="auto">
          <Rows {...props} columns={shown} label={label} />
        </ScrollArea.Autosize>
      )}
      {pager && <Pager {...pager} next={query.data?.nextCursor ?? null} />}
    </Paper>
  );
}

function Rows<Row>(props: ListProps<Row> & { label: string }) {
  const { t } = useTranslation('shell');
  const { label, query, columns, sorting } = props;
  const { data } = query;
  const rows = useRows(props);
  const table = useRef<HTMLTableElement>(null);
  useLayoutEffect(() => alignAmounts(table.current), [rows]);
  return (
    <Table
      ref={table}
      className="data-list phone-rows"
      aria-label={label}
      aria-busy={data === undefined || query.isPlaceholderData === true}
      verticalSpacing="row"
    >
      <Headings columns={columns} sorting={sorting} />
      <Table.Tbody>
        {data === undefined && <SkeletonRows columns={columns.length} />}
        {rows}
        {data?.items.length === 0 && (
          <Table.Tr>
            <Table.Td colSpan={columns.length}>{t('list.end')}</Table.Td>
          </Table.Tr>
        )}
      </Table.Tbody>
    </Table>
  );
}

/** Rows are most of what a page draws, so they are kept while something else on it changes. */
function useRows<Row>({ query, columns, rowKey }: ListProps<Row>) {
  const items = query.data?.items;
  return useMemo(() => {
    const places = phonePlaces(columns);
    return items?.map((row) => (
      <Table.Tr key={keyOf(row, rowKey)} onClick={openRow}>
        {columns.map((column) => (
          <Cell key={column.id} column={column} row={row} place={places.get(column.id)} />
        ))}
      </Table.Tr>
    ));
    // oxlint-disable-next-line react/exhaustive-deps -- the key of a list never changes
  }, [items, columns]);
}

/** Makes room in each column for as many decimals as an amount in it has, so that the widest ends where its heading does. */
function alignAmounts(table: HTMLTableElement | null) {
  const amounts = [...(table?.querySelectorAll<HTMLElement>('td .money-aligned') ?? [])];
  const columnOf = (amount: HTMLElement) => amount.closest('td')?.cellIndex ?? 0;
  const widest = new Map<number, number>();
  for (const amount of amounts) {
    const decimals = Number.parseInt(amount.style.getPropertyValue('--decimals'));
    widest.set(columnOf(amount), Math.max(decimals, widest.get(columnOf(amount)) ?? 0));
  }
  for (const amount of amounts) {
    const room = Math.min(widest.get(columnOf(amount)) ?? 0, MOST_DECIMALS);
    amount.style.setProperty('--width-decimals', `${room}ch`);
  }
}

export function keyOf<Row>(row: Row, key: RowKey<Row> | undefined): string {
  return typeof key === 'function' ? key(row) : String(row[key ?? ('id' as keyof Row)]);
}

function Headings<Row>({ columns, sorting }: Pick<ListProps<Row>, 'columns' | 'sorting'>) {
  return (
    <Table.Thead>
      <Table.Tr>
        {columns.map((column) => (
          <Heading key={column.id} column={column} sorting={sorting} />
        ))}
      </Table.Tr>
    </Table.Thead>
  );
}

interface CellProps<Row> {
  column: ListColumn<Row>;
  row: Row;
  place: PhonePlace | undefined;
}

function Cell<Row>({ column: { id, cell, header, align }, row, place }: CellProps<Row>) {
  const value = cell(row);
  const isNumber = align === 'right' && id !== ACTIONS;
  const shown = place === 'below' && (value === NONE || value === null || value === '') ? 'hidden' : place;
  return (
    <Table.Td data-label={header} data-phone={shown} data-number={isNumber || undefined} ta={align}>
      {value}
    </Table.Td>
  );
}

/** A click in a row follows the link in its first cell, unless it hit another control or selected text. */
function openRow({ currentTarget, target }: MouseEvent<HTMLTableRowElement>) {
  const isOwn = target instanceof Element && target.closest('a, button, input, label, summary') !== null;
  if (isOwn || getSelection()?.toString()) return;
  currentTarget.querySelector<HTMLElement>('td:first-child a')?.click();
}

interface HeadingProps<Row> {
  column: ListColumn<Row>;
  sorting: ListProps<Row>['sorting'];
}

function Heading<Row>({ column, sorting }: HeadingProps<Row>) {
  const { t } = useTranslation('shell');
  const { id, header, align, sort } = column;
  if (id === MENU)
    return (
      <Table.Th>
        <span className="visually-hidden">{t('list.actions')}</span>
      </Table.Th>
    );
  if (!sorting || sort === undefined) return <Table.Th ta={align}>{header}</Table.Th>;
  const isUp = sorting.by === sort;
  const isDown = sorting.by === `-${sort}`;
  return (
    <Table.Th ta={align} aria-sort={isUp ? 'ascending' : isDown ? 'descending' : 'none'}>
      <UnstyledButton fw="inherit" fz="inherit" onClick={() => sorting.sort(isUp ? `-${sort}` : sort)}>
        {header}
        {isUp && <IconArrowUp size={14} aria-hidden />}
        {isDown && <IconArrowDown size={14} aria-hidden />}
      </UnstyledButton>
    </Table.Th>
  );
}

const SKELETON_ROWS = 6;

function SkeletonRows({ columns }: { columns: number }) {
  return Array.from({ length: SKELETON_ROWS }, (_, row) => (
    <Table.Tr key={row} aria-hidden>
      {Array.from({ length: columns }, (_, column) => (
        <Table.Td key={column}>
          <Skeleton height={16} />
        </Table.Td>
      ))}
    </Table.Tr>
  ));
}

interface PagerProps {
  cursor: string | undefined;
  go: (cursor?: string) => void;
  next: string | null;
}

/** Going back is left to the browser, because the cursor is in the address. */
export function Pager({ cursor, go, next }: PagerProps) {
  const { t } = useTranslation('shell');
  if (cursor === undefined && next === null) return null;
  return (
    <Group justify="flex-end" gap="xs" p="xs" component="nav" aria-label={t('list.pages')}>
      <Button variant="default" size="xs" disabled={cursor === undefined} onClick={() => go(undefined)}>
        {t('list.first')}
      </Button>
      <Button variant="default" size="xs" disabled={next === null} onClick={() => go(next ?? undefined)}>
        {t('list.next')}
      </Button>
    </Group>
  );
}
