import { stringify } from 'csv-stringify';
import type { FastifyReply } from 'fastify';
import { basename } from 'node:path';
import { pipeline, Readable, type Transform } from 'node:stream';
import { pipeline as finished } from 'node:stream/promises';
import type { z } from 'zod';
import { announceFile } from './attachment.js';
import { shown } from './fields.js';

export const CSV_TYPE = 'text/csv; charset=utf-8';

export interface CsvColumn<T> {
  title: string;
  value: (row: T) => string | number | null;
}

type Cell = string | number | boolean | readonly string[] | null | undefined;
type PlainName<T> = { [Name in keyof T]-?: T[Name] extends Cell ? Name : never }[keyof T] & string;

/**
 * Columns in order. The name of a property becomes its title: `heldSince` is held_since, and `chargeId` and `isOverdue`
 * are charge and overdue. Several ids share one cell. Anything that is not shown unchanged has a title and a function.
 */
export function csvColumns<T>(
  ...columns: readonly (PlainName<T> | readonly [title: string, value: CsvColumn<T>['value']])[]
): CsvColumn<T>[] {
  return columns.map((column) => {
    if (typeof column !== 'string') return { title: column[0], value: column[1] };
    return { title: titleOf(column), value: (row) => cellOf(row[column] as Cell) };
  });
}

/** A column for each field of a shape, in its order. */
export function allColumns<S extends z.ZodObject<Record<string, z.ZodType<Cell>>>>(
  shape: S,
): CsvColumn<z.output<S>>[] {
  return csvColumns(...(Object.keys(shape.shape) as PlainName<z.output<S>>[]));
}

/** The title of a column for a property with this name. */
export function titleOf(name: string): string {
  const bare = name.replace(/(?<=.)Id(?=s?$)/, '').replace(/^is(?=[A-Z])/, '');
  return bare.replace(/[A-Z]/g, (letter, at) => `${at === 0 ? '' : '_'}${letter.toLowerCase()}`);
}

function cellOf(value: Cell): string | number | null {
  if (typeof value === 'boolean') return String(value);
  if (typeof value === 'object') return value && value.join(' ');
  return value ?? null;
}

/**
 * A CSV file that is sent while it is read. Rows are read on demand, so memory stays flat. Without a name of its own, the
 * file is called as its route ends.
 */
export function sendCsv<T>(
  reply: FastifyReply,
  target: readonly CsvColumn<T>[] | { fileName: string; columns: readonly CsvColumn<T>[] },
  rows: AsyncIterable<T>,
): Readable {
  const { fileName, columns } = 'columns' in target ? target : { fileName: routeEnd(reply), columns: target };
  announceFile(reply, fileName, CSV_TYPE);
  const file = fileOf(columns);
  // If the reader or the database ends early, the other side ends too. The error is in the file's stream.
  pipeline(Readable.from(records(columns, rows)), file, () => undefined);
  return file;
}

function routeEnd({ request }: FastifyReply): string {
  return basename(request.routeOptions.url ?? '');
}

/** The same into any stream, which stays open. */
export async function writeCsv<T>(
  target: NodeJS.WritableStream,
  columns: readonly CsvColumn<T>[],
  rows: AsyncIterable<T>,
): Promise<void> {
  await finished(Readable.from(records(columns, rows)), fileOf(columns), target, { end: false });
}

/** Rows in memory, for a file. */
export async function* inSequence<T>(rows: Iterable<T>): AsyncGenerator<T> {
  yield* rows;
}

/** Rows as a client reads them, in the shape of an answer. */
export async function* shaped<S extends z.ZodType>(
  shape: S,
  rows: AsyncIterable<z.input<S>> | Iterable<z.input<S>>,
): AsyncGenerator<z.output<S>> {
  for await (const row of rows) yield shown(shape, row);
}

/** Rows of a file that are read at a time. */
const FILE_PAGE = 1_000;

/** All rows of a list, read in pages on demand. */
export async function* everyRow<T>(
  read: (limit: number, last: T | null) => Promise<T[]>,
  pageSize = FILE_PAGE,
): AsyncGenerator<T> {
  for (let last: T | null = null; ;) {
    const page: T[] = await read(pageSize, last);
    yield* page;
    if (page.length < pageSize) return;
    last = page.at(-1) ?? null;
  }
}

function fileOf<T>(columns: readonly CsvColumn<T>[]): Transform {
  return stringify({ header: true, columns: columns.map(({ title }) => title) });
}

async function* records<T>(
  columns: readonly CsvColumn<T>[],
  rows: AsyncIterable<T>,
): AsyncGenerator<string[]> {
  for await (const row of rows) yield columns.map(({ value }) => harmless(String(value(row) ?? '')));
}

/** A spreadsheet would run a cell that starts like a formula. A negative amount is none. */
function harmless(cell: string): string {
  return /^[=+\-@\t\r]/.test(cell) && !/^-\d+(\.\d+)?$/.test(cell) ? `'${cell}` : cell;
}
