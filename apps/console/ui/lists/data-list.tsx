import {
  ActionIcon,
  Button,
  Group,
  Menu,
  Paper,
  ScrollArea,
  Skeleton,
  Table,
  UnstyledButton,
} from '@mantine/core';
import { useLocalStorage } from '@mantine/hooks';
import { IconArrowDown, IconArrowUp, IconColumns3 } from '@tabler/icons-react';
import { type MouseEvent, type ReactNode, useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { useAddressPager } from '../address.js';
import { EmptyState, ErrorState } from '../states.js';
import { ACTIONS, MENU, NONE, type PhonePlace, phonePlaces } from './phone-row.js';

export interface ListColumn<Row> {
  /** Unique in the list; it is remembered when people choose columns. */
  id: string;
  header: string;
  cell: (row: Row) => ReactNode;
  /** Amounts and counts are aligned right. */
  align?: 'right';
  /** Hidden until it is chosen. */
  isExtra?: boolean;
  /** What the list is sorted by when the header is pressed. */
  sort?: string;
  /** When something was: on phones it is never what a row is called by. */
  isTime?: boolean;
  isMoney?: boolean;
  /** Where a phone shows it, where the rule of `phone-row.ts` is not good enough. */
  phone?: PhonePlace;
}

/** What a list is read by: a query, or a part of what one answers. */
export interface Listed<Row> {
  data: { items: readonly Row[]; nextCursor?: string | null } | undefined;
  error: unknown;
  refetch: () => unknown;
  isPlaceholderData?: boolean;
}

/** The rows that a part of an answer holds. */
export function rowsOf<Data, Row>(
  query: { data: Data | undefined } & Omit<Listed<Row>, 'data'>,
  items: (data: Data) => readonly Row[],
): Listed<Row> {
  const { data, error, refetch, isPlaceholderData = false } = query;
  return { data: data === undefined ? undefined : { items: items(data) }, error, refetch, isPlaceholderData };
}

/** Rows that are there already: nothing of them is read or fails. */
export function knownRows<Row>(items: readonly Row[]): Listed<Row> {
  return { data: { items }, error: null, refetch: () => undefined };
}

interface DataListProps<Row> {
  /** What the list holds, for screen readers. */
  label: string;
  query: Listed<Row>;
  columns: readonly ListColumn<Row>[];
  rowKey: (row: Row) => string;
  /** What to say where there is nothing, and what to do about it. */
  empty: { title: string; hint: string; action?: ReactNode };
  /** Its pages are gone through by the cursor of the address. */
  isPaged?: boolean;
  /** The same by a cursor that is kept elsewhere. */
  pager?: { cursor: string | undefined; go: (cursor: string | undefined) => void };
  /** The order of the address, such as `price` or `-price`, and how to put another there. */
  sorting?: { by: string | undefined; sort: (by: string) => void };
  /** Lets people choose columns, and remembers it under this name. */
  columnsName?: string;
}

/**
 * A list of the server's: a skeleton while it is read, an empty state that says what to do, an error with the request id and
 * a way to try again, pages by cursor. Use it for every list. On phones a row is two lines: what it is and its amount, and
 * below them the rest.
 */
export function DataList<Row>(props: DataListProps<Row>) {
  const { query, empty, isPaged = false, columnsName } = props;
  const addressPager = useAddressPager();
  const pager = isPaged ? addressPager : props.pager;
  const [shown, choose] = useChosenColumns(props);
  if (query.error && query.data === undefined)
    return <ErrorState error={query.error} retry={() => void query.refetch()} />;
  const isEmpty = query.data?.items.length === 0;
  const isFirst = pager?.cursor === undefined;
  return (
    <Paper withBorder className={columnsName ? 'with-columns' : undefined}>
      {columnsName && !isEmpty && <ColumnChoice columns={props.columns} shown={shown} choose={choose} />}
      {isEmpty && isFirst ? (
        <EmptyState {...empty} />
      ) : (
        <ScrollArea.Autosize type="auto">
          <Rows {...props} columns={shown} />
        </ScrollArea.Autosize>
      )}
      {pager && <Pager {...pager} next={query.data?.nextCursor ?? null} />}
    </Paper>
  );
}

function Rows<Row>({ label, query, columns, rowKey, sorting }: DataListProps<Row>) {
  const { t } = useTranslation('shell');
  const { data } = query;
  const items = data?.items;
  // Rows are most of what a page draws: they stay while something else of it changes.
  const rows = useMemo(() => {
    const places = phonePlaces(columns);
    return items?.map((row) => (
      <Table.Tr key={rowKey(row)} onClick={openRow}>
        {columns.map((column) => (
          <Cell key={column.id} column={column} row={row} place={places.get(column.id)} />
        ))}
      </Table.Tr>
    ));
    // oxlint-disable-next-line react/exhaustive-deps -- a list never calls its rows otherwise
  }, [items, columns]);
  return (
    <Table
      className="data-list phone-rows"
      aria-label={label}
      aria-busy={data === undefined || query.isPlaceholderData === true}
      verticalSpacing="row"
    >
      <Table.Thead>
        <Table.Tr>
          {columns.map((column) => (
            <Heading key={column.id} column={column} sorting={sorting} />
          ))}
        </Table.Tr>
      </Table.Thead>
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

/** A click anywhere in a row follows the link of its first cell, unless it was for something else or marked text. */
function openRow({ currentTarget, target }: MouseEvent<HTMLTableRowElement>) {
  const isOwn = target instanceof Element && target.closest('a, button, input, label, summary') !== null;
  if (isOwn || getSelection()?.toString()) return;
  currentTarget.querySelector<HTMLElement>('td:first-child a')?.click();
}

interface HeadingProps<Row> {
  column: ListColumn<Row>;
  sorting: DataListProps<Row>['sorting'];
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

/** Back is the browser's: the cursor is in the address. */
export function Pager({
  cursor,
  go,
  next,
}: {
  cursor: string | undefined;
  go: (cursor?: string) => void;
  next: string | null;
}) {
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

type Choose = (ids: string[]) => void;

/** The choice is the viewer's own and stays on the device; it is not part of the address that is shared. */
function useChosenColumns<Row>({
  columns,
  columnsName,
}: DataListProps<Row>): [readonly ListColumn<Row>[], Choose] {
  const [chosen, choose] = useLocalStorage<string[]>({
    key: `tollgate.columns.${columnsName ?? ''}`,
    getInitialValueInEffect: false,
  });
  // Without a default: it would be stored, and hide from everyone the columns that a list gets later.
  const ids = columnsName === undefined ? undefined : chosen;
  const shown = useMemo(() => {
    const wanted = columns.filter(({ id, isExtra }) => id === MENU || (ids?.includes(id) ?? !isExtra));
    return wanted.some(({ id }) => id !== MENU) ? wanted : columns;
  }, [columns, ids]);
  return [shown, choose];
}

function ColumnChoice<Row>(props: {
  columns: readonly ListColumn<Row>[];
  shown: readonly ListColumn<Row>[];
  choose: Choose;
}) {
  const { t } = useTranslation('shell');
  const open = withoutMenu(props.columns);
  const ids = withoutMenu(props.shown).map(({ id }) => id);
  return (
    <div className="column-choice">
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon variant="subtle" color="gray" aria-label={t('list.columns')} title={t('list.columns')}>
            <IconColumns3 size={16} aria-hidden />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {open.map(({ id, header }) => {
            const isShown = ids.includes(id);
            const others = isShown ? ids.filter((each) => each !== id) : [...ids, id];
            return (
              <Menu.CheckboxItem
                key={id}
                checked={isShown}
                disabled={others.length === 0}
                onChange={() => props.choose(others)}
              >
                {header}
              </Menu.CheckboxItem>
            );
          })}
        </Menu.Dropdown>
      </Menu>
    </div>
  );
}

function withoutMenu<Row>(columns: readonly ListColumn<Row>[]): ListColumn<Row>[] {
  return columns.filter(({ id }) => id !== MENU);
}
