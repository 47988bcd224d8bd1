import { parse } from 'csv-parse/sync';
import { ApiError } from '../errors.js';

/** A longer file must be split. */
const MAX_ROWS = 5_000;

interface FileColumns<Column extends string> {
  /** All that the first line may name. */
  columns: readonly Column[];
  /** Those that it must name. */
  required: readonly Column[];
}

interface FileRecord<Column extends string> {
  /** Counted from 1, including the header. */
  line: number;
  cells: Partial<Record<Column, string>>;
}

/**
 * The rows of a CSV file that someone sent.
 * @throws ApiError if it is no CSV file, has other columns, or too many rows
 */
export function readCsvFile<Column extends string>(
  text: string,
  titles: FileColumns<Column>,
): FileRecord<Column>[] {
  const columns = (found: string[]) => headerOf(found, titles);
  const records = parsed(text, columns) as { record: FileRecord<Column>['cells']; info: { lines: number } }[];
  limitRows(records.length);
  return records.map(({ record, info }) => ({ line: info.lines, cells: record }));
}

/** @throws ApiError */
export function limitRows(rows: number): void {
  if (rows > MAX_ROWS) throw new ApiError('invalid_value', `The file has more than ${MAX_ROWS} rows.`);
}

function parsed(text: string, columns: (titles: string[]) => string[]): unknown[] {
  try {
    return parse(text, { columns, bom: true, trim: true, skip_empty_lines: true, info: true });
  } catch (error) {
    if (error instanceof ApiError) throw error;
    throw new ApiError('invalid_value', `The file is not valid CSV: ${(error as Error).message}.`);
  }
}

function headerOf(titles: string[], { columns, required }: FileColumns<string>): string[] {
  const foreign = titles.find((title) => !columns.includes(title));
  if (foreign === undefined && required.every((each) => titles.includes(each))) return titles;
  const fault =
    foreign === undefined ? `lacks ${required.join(' or ')}` : `has the column ${JSON.stringify(foreign)}`;
  throw new ApiError('invalid_value', `The first line ${fault}: the columns are ${columns.join(', ')}.`);
}
