import { Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import { Who } from '../../shell/who.js';
import type { ListColumn } from './data-list.js';
import { Identifier } from '../identifier.js';
import { OpenLink } from '../links.js';
import { Money } from '../money.js';
import { Ago, Day } from '../time/when.js';
import { MENU, NONE, type PhonePlace } from './phone-row.js';
import { type RowAction, RowMenu } from './row-menu.js';

/** A column of a list. Most have one of the shapes below. */
export function column<Row>(id: string, header: string, cell: (row: Row) => ReactNode): ListColumn<Row> {
  return { id, header, cell };
}

/** Amounts and counts are aligned right. */
export function rightColumn<Row>(id: string, header: string, cell: (row: Row) => ReactNode): ListColumn<Row> {
  return { id, header, cell, align: 'right' };
}

/** An amount that its row is about: phones show the first of a list beside what the row is called by. */
export function amountColumn<Row>(
  id: string,
  header: string,
  cell: (row: Row) => ReactNode,
): ListColumn<Row> {
  return { ...rightColumn(id, header, cell), isMoney: true };
}

/** Where phones show a column, where the rule of `phone-row.ts` is not good enough. */
export function onPhone<Row>(phone: PhonePlace, shown: ListColumn<Row>): ListColumn<Row> {
  return { ...shown, phone };
}

/** Left out on phones. */
export function offPhone<Row>(shown: ListColumn<Row>): ListColumn<Row> {
  return onPhone('hidden', shown);
}

/** Hidden until it is chosen. */
export function extra<Row>(hidden: ListColumn<Row>): ListColumn<Row> {
  return { ...hidden, isExtra: true };
}

/** Last in a list: copies what a row has, or narrows the list to it. It shows when the pointer or the focus is in the row. */
export function menuColumn<Row>(actionsOf: (row: Row) => readonly RowAction[]): ListColumn<Row> {
  return onPhone(
    'menu',
    column(MENU, '', (row) => <RowMenu actions={() => actionsOf(row)} />),
  );
}

export function textColumn<Name extends string>(field: Name, header: string) {
  return column(field, header, (row: Record<Name, string | number>) => row[field]);
}

/** Text that may be broken anywhere, such as the name of a model. */
export function longTextColumn<Name extends string>(field: Name, header: string) {
  return column(field, header, (row: Record<Name, string>) => longText(row[field]));
}

/** A cell of such text. */
export function longText(text: string | null): ReactNode {
  return text ? <span className="model-name">{text}</span> : NONE;
}

export function numberColumn<Name extends string>(field: Name, header: string) {
  return rightColumn(field, header, (row: Record<Name, string | number>) => row[field]);
}

/** An id or a reference; see Identifier. */
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

/** When it was: opens the row in the panel that the address names. */
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
  /** A plus before what came in. */
  signed?: boolean;
  /** Where it is not that of balance. */
  currency?: string;
}

export function moneyColumn<Name extends string>(field: Name, header: string, more: MoneyColumn = {}) {
  return amountColumn(field, header, (row: Record<Name, string | null>) => {
    const value: string | null = row[field];
    return value === null ? NONE : <Money aligned value={value} {...more} />;
  });
}

/** An amount in the currency that its row names. */
export function paymentColumn<Name extends string>(field: Name, header: string, { signed = false } = {}) {
  return amountColumn(field, header, (row: Record<Name, string | null> & { currency: string }) => {
    const value: string | null = row[field];
    return value === null ? NONE : <Money aligned value={value} currency={row.currency} signed={signed} />;
  });
}

/** Who did something. */
export function personColumn<Name extends string>(field: Name, header: string) {
  return column(field, header, (row: Record<Name, string>) => <Who actor={row[field]} />);
}

/** Who asked for something, and who agreed to it. */
export function peopleColumn(header: string) {
  return column('people', header, (row: { requestedBy: string; approvedBy: string | null }) => (
    <Stack gap={0}>
      <Who actor={row.requestedBy} />
      {row.approvedBy !== null && <Who actor={row.approvedBy} />}
    </Stack>
  ));
}
