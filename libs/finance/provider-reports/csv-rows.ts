import { CsvError, parse } from 'csv-parse';
import { pipeline, Readable, Transform, type TransformCallback } from 'node:stream';
import { ReportRefused, type RowFault } from './report-line.js';

/** Text in pieces. Can be read more than once. */
export type FileSource = () => AsyncIterable<string | Buffer>;

export interface CsvRow {
  /** Counted from 1, including the header. For a row over several lines, the last one. */
  readonly line: number;
  readonly cells: Readonly<Record<string, string>>;
}

export interface CsvFormat {
  delimiter?: string;
  /** Checks the column titles. A returned fault refuses the file; null accepts it. */
  checkHeader?: (titles: readonly string[]) => string | null;
  /** Lines that some banks write before the header. */
  skipLines?: number;
  encoding?: 'utf-8' | 'windows-1252';
}

/** The limit for a cell: an unclosed quote would otherwise swallow the file. */
const MOST_CELL_BYTES = 100_000;

/** Streams the rows of a CSV file in constant memory. @throws ReportRefused if it is not CSV */
export async function* csvRows(source: FileSource, format: CsvFormat = {}): AsyncGenerator<CsvRow> {
  const { delimiter = ',', skipLines = 0, checkHeader } = format;
  const parser = parse({
    delimiter,
    bom: true,
    info: true,
    skip_empty_lines: true,
    trim: true,
    from_line: skipLines + 1,
    max_record_size: MOST_CELL_BYTES,
    columns: (titles: string[]) => headerOf(titles, { line: skipLines + 1, checkHeader }),
  });
  pipeline(Readable.from(source()), decoder(format.encoding ?? 'utf-8'), parser, () => undefined);
  try {
    for await (const { record, info } of parser as AsyncIterable<Parsed>)
      yield { line: info.lines, cells: record };
  } catch (error) {
    throw error instanceof CsvError ? new ReportRefused([faultOf(error)]) : error;
  }
}

interface Parsed {
  record: Record<string, string>;
  info: { lines: number };
}

function headerOf(
  titles: string[],
  { line, checkHeader }: { line: number; checkHeader: CsvFormat['checkHeader'] },
): string[] {
  const named = titles.map((title) => title.trim());
  const twice = named.find((title, at) => title !== '' && named.indexOf(title) !== at);
  const reason =
    twice === undefined ? checkHeader?.(named) : `has the column ${JSON.stringify(twice)} twice.`;
  if (reason) throw new ReportRefused([{ line, column: null, reason: `The header ${reason}` }]);
  // A column without a title is named by its position.
  return named.map((title, at) => title || `column ${at + 1}`);
}

function faultOf(error: CsvError): RowFault {
  const line = typeof error['lines'] === 'number' ? error['lines'] : 1;
  return { line, column: null, reason: `This is not CSV: ${error.message}.` };
}

/** Bytes as text. A byte that is invalid in the encoding refuses the file, so that no name is silently corrupted. */
function decoder(encoding: 'utf-8' | 'windows-1252'): Transform {
  const text = new TextDecoder(encoding, { fatal: true });
  const decode = (chunk?: Buffer): string => {
    try {
      return chunk ? text.decode(chunk, { stream: true }) : text.decode();
    } catch {
      throw new ReportRefused([{ line: 1, column: null, reason: `The file is not encoded in ${encoding}.` }]);
    }
  };
  return new Transform({
    decodeStrings: false,
    transform: (chunk: Buffer | string, _encoding, done) =>
      pass(() => (typeof chunk === 'string' ? chunk : decode(chunk)), done),
    flush: (done) => pass(() => decode(), done),
  });
}

function pass(decoded: () => string, done: TransformCallback): void {
  try {
    done(null, decoded());
  } catch (error) {
    done(error as Error);
  }
}
