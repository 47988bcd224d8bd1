import { formatDecimal } from '#money/amount.js';
import type { ChargeLine } from '#pricing/quote.js';
import type { Announcement } from './announcements.js';
import type { BatchPlan, KeyState, LockedBalance } from './batch.js';
import { fixedArray, type FixedTypeName, textArray } from './binary-array.js';
import type { HoldCommand } from './charge.js';

/**
 * What a batch writes, column by column. Rows reach the database as one array per column, so one statement writes any
 * number of them. The SQL and the values both come from these tables: the order of a table's columns is that of its
 * parameters.
 */

type Type = FixedTypeName | 'text' | 'numeric';
type Value = string | bigint | number | boolean | null | undefined;

export interface Column<Row> {
  readonly name: string;
  readonly type: Type;
  readonly value: (row: Row) => Value;
}

type NewCharge = BatchPlan['newCharges'][number];
type Resolution = BatchPlan['resolutions'][number];
type Transaction = BatchPlan['transactions'][number];
type Entry = BatchPlan['entries'][number];
export interface SpendChange {
  readonly keyId: string;
  /** Its first day, such as 2026-01-01. */
  readonly month: string;
  readonly spent: bigint;
}

export const newChargeColumns: readonly Column<NewCharge>[] = [
  { name: 'id', type: 'text', value: ({ command }) => command.chargeId },
  { name: 'account_id', type: 'text', value: ({ command }) => command.accountId },
  { name: 'state', type: 'text', value: ({ state }) => state },
  { name: 'input_hash', type: 'text', value: ({ inputHash }) => inputHash?.toString('hex') },
  { name: 'key_id', type: 'text', value: (charge) => holdOf(charge)?.keyId },
  { name: 'family', type: 'text', value: ({ quote }) => quote?.model.family },
  { name: 'model_id', type: 'text', value: (charge) => holdOf(charge)?.model },
  { name: 'requested_model', type: 'text', value: (charge) => holdOf(charge)?.requestedModel },
  { name: 'group_name', type: 'text', value: (charge) => holdOf(charge)?.group },
  { name: 'units', type: 'bigint', value: (charge) => charge.quote?.units ?? holdOf(charge)?.units },
  {
    name: 'unit_price',
    type: 'numeric',
    value: ({ quote }) => quote?.unitPrice && formatDecimal(quote.unitPrice),
  },
  { name: 'multiplier', type: 'numeric', value: ({ quote }) => quote && formatDecimal(quote.multiplier) },
  { name: 'rule', type: 'text', value: ({ quote }) => quote?.rule },
  { name: 'price_version_id', type: 'bigint', value: ({ quote }) => quote?.priceVersionId },
  { name: 'multiplier_version_id', type: 'bigint', value: ({ quote }) => quote?.multiplierVersionId },
  { name: 'group_rule_version_id', type: 'bigint', value: ({ quote }) => quote?.groupRuleVersionId },
  { name: 'amount', type: 'bigint', value: ({ quote }) => quote?.amount ?? 0n },
  { name: 'refusal_code', type: 'text', value: ({ refusal }) => refusal?.code },
  { name: 'refusal_message', type: 'text', value: ({ refusal }) => refusal?.message },
  { name: 'task_id', type: 'text', value: (charge) => holdOf(charge)?.taskId },
  { name: 'request_id', type: 'text', value: (charge) => holdOf(charge)?.requestId },
  { name: 'deadline_ms', type: 'float8', value: (charge) => holdOf(charge)?.deadlineMs },
  { name: 'lines', type: 'text', value: ({ quote }) => quote?.lines && linesJson(quote.lines) },
  { name: 'dimensions', type: 'text', value: (charge) => dimensionsJson(holdOf(charge)) },
];

export const resolutionColumns: readonly Column<Resolution>[] = [
  { name: 'id', type: 'text', value: ({ charge }) => charge.id },
  { name: 'state', type: 'text', value: ({ state }) => state },
  { name: 'delivered_units', type: 'bigint', value: ({ deliveredUnits }) => deliveredUnits },
  { name: 'settled', type: 'bigint', value: ({ settled }) => settled },
  { name: 'released', type: 'bigint', value: ({ released }) => released },
  { name: 'channel_id', type: 'text', value: ({ command }) => command.channel },
  { name: 'reason', type: 'text', value: ({ command }) => command.reason },
  { name: 'upstream_status', type: 'integer', value: ({ command }) => command.upstreamStatus },
  { name: 'latency_ms', type: 'integer', value: ({ command }) => command.latencyMs },
  {
    name: 'delivered_lines',
    type: 'text',
    value: ({ deliveredLines }) => deliveredLines && linesJson(deliveredLines),
  },
  { name: 'operator_loss', type: 'bigint', value: ({ operatorLoss }) => operatorLoss },
];

export const transactionColumns: readonly Column<Transaction>[] = [
  { name: 'place', type: 'bigint', value: ({ place }) => place },
  { name: 'kind', type: 'text', value: ({ kind }) => kind },
  { name: 'reference', type: 'text', value: ({ reference }) => reference },
  { name: 'account_id', type: 'text', value: ({ accountId }) => accountId },
  { name: 'charge_id', type: 'text', value: ({ chargeId }) => chargeId },
];

export const entryColumns: readonly Column<Entry>[] = [
  { name: 'place', type: 'bigint', value: ({ place }) => place },
  { name: 'ordinal', type: 'smallint', value: ({ ordinal }) => ordinal },
  { name: 'ledger_account_id', type: 'bigint', value: ({ ledgerAccountId }) => ledgerAccountId },
  { name: 'amount', type: 'bigint', value: ({ amount }) => amount },
  { name: 'balance_after', type: 'bigint', value: ({ balanceAfter }) => balanceAfter },
  { name: 'model_id', type: 'text', value: ({ dimensions }) => dimensions?.model },
  { name: 'group_name', type: 'text', value: ({ dimensions }) => dimensions?.group },
  { name: 'channel_id', type: 'text', value: ({ dimensions }) => dimensions?.channel },
  { name: 'key_id', type: 'text', value: ({ dimensions }) => dimensions?.keyId },
];

export const balanceColumns: readonly Column<LockedBalance>[] = [
  { name: 'account_id', type: 'text', value: ({ accountId }) => accountId },
  { name: 'main', type: 'bigint', value: ({ main }) => main },
  { name: 'held', type: 'bigint', value: ({ held }) => held },
  { name: 'low_told', type: 'boolean', value: ({ lowAnnounced }) => lowAnnounced },
  { name: 'version', type: 'xid', value: ({ version }) => version },
];

/** What must still be true of a batch's keys, if the batch did not read them. */
export const keyColumns: readonly Column<KeyState>[] = [
  { name: 'id', type: 'text', value: ({ id }) => id },
  { name: 'rules_version', type: 'bigint', value: ({ rulesVersion }) => rulesVersion },
];

export const spendColumns: readonly Column<SpendChange>[] = [
  { name: 'key_id', type: 'text', value: ({ keyId }) => keyId },
  { name: 'month', type: 'date', value: ({ month }) => month },
  { name: 'spent', type: 'bigint', value: ({ spent }) => spent },
];

export const announcementColumns: readonly Column<Announcement>[] = [
  { name: 'topic', type: 'text', value: ({ topic }) => topic },
  { name: 'key', type: 'text', value: ({ key }) => key },
  { name: 'payload', type: 'text', value: ({ payload }) => payload },
  { name: 'time_field', type: 'text', value: ({ timeField }) => timeField },
];

/** A table's parameters in the statement. */
export interface Source {
  /** `unnest($2::text[], …) AS t (id, …)`, or `(VALUES ($2::text, …)) AS t (id, …)`. */
  readonly sql: string;
  /** `id, account_id, …`. */
  readonly names: string;
  /** The same without the first. */
  readonly rest: string;
  /** The array of the first column, which finds the rows of a table. */
  readonly keys: string;
  /** Number of rows. */
  readonly count: string;
}

type AnyColumns = readonly Pick<Column<never>, 'name' | 'type'>[];

/**
 * The rows of a table as a statement takes them: a fixed number with each value by itself, or any number with an array
 * per column.
 */
export interface RowShape {
  readonly columns: AnyColumns;
  readonly rows: number | 'any';
}

/** Numbers the parameters of several tables one after the other. */
export function sourcesFrom<Name extends string>(
  first: number,
  tables: readonly (readonly [Name, RowShape])[],
): Map<Name, Source> {
  let next = first;
  return new Map(
    tables.map(([name, { columns, rows }]) => {
      const source = rows === 'any' ? arraysFrom(next, columns) : valuesFrom(next, columns, rows);
      next += columns.length * (rows === 'any' ? 1 : rows);
      return [name, source];
    }),
  );
}

function arraysFrom(start: number, columns: AnyColumns): Source {
  const arrays = columns.map(({ type }, index) => `$${start + index}::${type}[]`);
  const keys = arrays[0]!;
  const names = namesOf(columns);
  return {
    ...names,
    sql: `unnest(${arrays.join(', ')}) AS t (${names.names})`,
    keys,
    count: `cardinality(${keys})`,
  };
}

/** A function for each array takes longer than the rest of a statement that writes one row. */
function valuesFrom(start: number, columns: AnyColumns, rows: number): Source {
  const values = Array.from({ length: rows }, (_, row) =>
    columns.map(({ type }, index) => `$${start + row * columns.length + index}::${type}`),
  );
  const names = namesOf(columns);
  return {
    ...names,
    sql: `(VALUES ${values.map((row) => `(${row.join(', ')})`).join(', ')}) AS t (${names.names})`,
    keys: `ARRAY[${values.map(([key]) => key).join(', ')}]`,
    count: String(rows),
  };
}

function namesOf(columns: AnyColumns): Pick<Source, 'names' | 'rest'> {
  const names = columns.map(({ name }) => name);
  return { names: names.join(', '), rest: names.slice(1).join(', ') };
}

/** The values of a table's parameters, one array per column. */
export function arraysOf<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): (Buffer | string)[] {
  return columns.map(({ type, value }) => {
    const items = rows.map(value);
    if (type === 'text') return textArray(items as (string | null | undefined)[]);
    return type === 'numeric' ? numericArray(items) : fixedArray(type, items);
  });
}

/** The same, each value by itself, row by row. */
export function valuesOf<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): (string | null)[] {
  return rows.flatMap((row) => columns.map(({ value }) => value(row)?.toString() ?? null));
}

/** A PostgreSQL array literal: decimals need no quoting, and their binary format is not simple. */
function numericArray(items: readonly Value[]): string {
  return `{${items.map((item) => item?.toString() ?? 'NULL').join(',')}}`;
}

/** A charge that was resolved before it was held, and then refused, has no hold. */
function holdOf({ command }: NewCharge): HoldCommand | undefined {
  return 'keyId' in command ? command : undefined;
}

/** The lines as the charge stores them: exact texts. */
export function linesJson(lines: readonly ChargeLine[]): string {
  return JSON.stringify(
    lines.map(({ kind, units, unitPrice }) => ({
      kind,
      units: String(units),
      unitPrice: formatDecimal(unitPrice),
    })),
  );
}

/** Empty values take no space. */
function dimensionsJson({ dimensions }: Pick<HoldCommand, 'dimensions'> = {}): string | null {
  return dimensions && Object.keys(dimensions).length > 0 ? JSON.stringify(dimensions) : null;
}
