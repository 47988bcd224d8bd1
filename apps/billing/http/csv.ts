import { Readable } from 'node:stream';
import { stringify } from 'csv-stringify';
import type { FastifyReply } from 'fastify';

export interface CsvColumn<T> {
  title: string;
  value: (row: T) => string | number | null;
}

/** A CSV file that is sent while it is read: rows come as they are asked for, and memory stays flat. */
export function sendCsv<T>(
  reply: FastifyReply,
  fileName: string,
  columns: readonly CsvColumn<T>[],
  rows: AsyncIterable<T>,
): Readable {
  void reply.headers({
    'content-type': 'text/csv; charset=utf-8',
    'content-disposition': `attachment; filename="${fileName}"`,
  });
  const file = stringify({ header: true, columns: columns.map(({ title }) => title), escape_formulas: true });
  const source = Readable.from(records(columns, rows));
  source.on('error', (error) => file.destroy(error));
  return source.pipe(file);
}

async function* records<T>(
  columns: readonly CsvColumn<T>[],
  rows: AsyncIterable<T>,
): AsyncGenerator<string[]> {
  for await (const row of rows) yield columns.map(({ value }) => String(value(row) ?? ''));
}
