import { Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import { Who } from '../../shell/who.js';
import type { ListColumn } from './data-list.js';
import { Identifier } from '../texts.js';
import { OpenLink } from '../links.js';
import { Money } from '../money.js';
import { Ago, Day } from '../time/when.js';
import { MENU, NONE, type PhonePlace } from './phone-row.js';
import type { RowAction } from './row-actions.js';
import { RowMenu } from './row-menu.js';

/** A column of a list. Most are made by the functions below. */
export function column<Row>(id: string, header: string, cell: (row: Row) => ReactNode): ListColumn<Row> {
  return { id, header, cell };
}

/** Amounts and counts are aligned right. */
export function rightColumn<Row>(id: string, header: string, cell: (row: Row) => ReactNode): ListColumn<Row> {
  return { id, header, cell, align: 'right' };
}

/** A main amount. Phones show the first one beside the row's title. */
export function amountColumn<Row>(
  id: string,
  header: string,
  cell: (row: Row) => ReactNode,
): ListColumn<Row> {
  return { ...rightColumn(id, header, cell), isMoney: true };
}

/** Places a column on phones, if the rule of `phone-row.ts` is not good enough. */
export function onPhone<Row>(phone: PhonePlace, shown: ListColumn<Row>): ListColumn<Row> {
  return { ...shown, phone };
}

/** Left out on phones. */
export function offPhone<Row>(shown: ListColumn<Row>): ListColumn<Row> {
  return onPhone('hidden', shown);
}

/** Hidden until people choose it. */
export function extra<Row>(hidden: ListColumn<Row>): ListColumn<Row> {
  return { ...hidden, isExtra: true };
}

/** The row menu, last in a list. It appears when the pointer or focus is in the row. */
export function menuColumn<Row>(actionsOf: (row: Row) => readonly RowAction[]): ListColumn<Row> {
  return onPhone(
    'menu',
    column(MENU, '', (row) => <RowMenu actions={() => actionsOf(row)} />),
  );
}

export function textColumn<Name extends string>(field: Name, header: string) {
  return column(field, header, (row: Record<Name, string | number>) => row[field]);
}

/** Text that may break anywhere, such as the name of a model. */
export function longTextColumn<Name extends string>(field: Name, header: string) {
  return column(field, header, (row: Record<Name, string>) => longText(row[field]));
}

export function longText(text: string | null): ReactNode {
  return text ? <span className="model-name">{text}</span> : NONE;
}

export function numberColumn<Name extends string>(field: Name, header: string) {
  return rightColumn(field, header, (row: Record<Name, string | number>) => row[field]);
}

export function codeColumn<Name extends string>(field: Name, header: string) {
  return column(field, header, (row: Record<Name, string | null>) => <Identifier>{row[field]}</Identifier>);
}

/** @param none shown where there is no time, such as "never" */
export function timeColumn<Name extends string>(field: Name, header: string, none: ReactNode = NONE) {
  const time = column(field, header, (row: Record<Name, string | null>) => {
    const at = row[field];
    return at === null ? none : <Ago at={at} />;
  });
  return { ...time, isTime: true };
}

/** A time that opens its row in the panel. */
export function openColumn<Row>(
  param: string,
  header: string,
  of: (row: Row) => { id: string; at: string },
): ListColumn<Row> {
  return column('at', header, (row) => {
    const { id, at } = of(row);
    return (
      <OpenLink param={param} value={id}>
        <Ago at={at} />
      </OpenLink>
    );
  });
}

export function dayColumn<Name extends string>(field: Name, header: string) {
  return column(field, header, (row: Record<Name, string>) => <Day on={row[field]} />);
}

interface MoneyColumn {
  signed?: boolean;
  /** Credits by default. */
  currency?: string;
}

export function moneyColumn<Name extends string>(field: Name, header: string, more: MoneyColumn = {}) {
  return amountColumn(field, header, (row: Record<Name, string | null>) => {
    const value: string | null = row[field];
    return value === null ? NONE : <Money aligned value={value} {...more} />;
  });
}

/** An amount in its row's currency. */
export function paymentColumn<Name extends string>(field: Name, header: string, { signed = false } = {}) {
  return amountColumn(field, header, (row: Record<Name, string | null> & { currency: string }) => {
    const value: string | null = row[field];
    return value === null ? NONE : <Money aligned value={value} currency={row.currency} signed={signed} />;
  });
}

export function personColumn<Name extends string>(field: Name, header: string) {
  return column(field, header, (row: Record<Name, string>) => <Who actor={row[field]} />);
}

/** Who requested something, and who approved it. */
export function peopleColumn(header: string) {
  return column('people', header, (row: { requestedBy: string; approvedBy: string | null }) => (
    <Stack gap={0}>
      <Who actor={row.requestedBy} />
      {row.approvedBy !== null && <Who actor={row.approvedBy} />}
    </Stack>
  ));
}
