import { createHash } from 'node:crypto';
import { NamedError } from '#platform/errors.js';
import type { CsvRow, FileSource } from './csv-rows.js';
import { ReportRefused, type RowFault } from './report-line.js';

/** The content of a row, or why it has none. */
export type ReadRow<T> = { line: T; fault: null } | { line: null; fault: RowFault };

export class CellFault extends NamedError {
  constructor(
    readonly column: string,
    reason: string,
  ) {
    super(reason);
  }
}

/** Reads rows one by one. A CellFault makes the row faulty. Rows read as null are skipped. */
export async function* readReportRows<T>(
  rows: AsyncIterable<CsvRow>,
  read: (row: CsvRow) => T | null,
): AsyncGenerator<ReadRow<T>> {
  for await (const row of rows) {
    try {
      const line = read(row);
      if (line !== null) yield { line, fault: null };
    } catch (error) {
      if (!(error instanceof CellFault)) throw error;
      const { column, message: reason } = error;
      yield { line: null, fault: { line: row.line, column, reason } };
    }
  }
}

/** The times between which a report is complete, in ISO 8601. */
export interface Coverage {
  readonly from: string;
  readonly to: string;
}

/** A file with more faults than this is probably the wrong file. */
const FAULTS_KEPT = 100;

/**
 * Reads a file to its end, and keeps only its hash and the times of its first and last line.
 * @throws ReportRefused with the faulty rows
 */
export async function readThrough<T>(
  source: FileSource,
  read: (source: FileSource) => AsyncIterable<ReadRow<T>>,
  timeOf: (line: T) => string,
): Promise<{ sha256: string; span: Coverage | null }> {
  const hash = createHash('sha256');
  const faults: RowFault[] = [];
  let span: Coverage | null = null;
  const hashed: FileSource = async function* () {
    for await (const piece of source()) {
      hash.update(piece);
      yield piece;
    }
  };
  for await (const { line, fault } of read(hashed)) {
    if (fault === null) span = widened(span, timeOf(line));
    else if (faults.push(fault) >= FAULTS_KEPT) break;
  }
  if (faults.length > 0) throw new ReportRefused(faults);
  return { sha256: hash.digest('hex'), span };
}

function widened(span: Coverage | null, time: string): Coverage {
  if (span === null) return { from: time, to: time };
  return { from: time < span.from ? time : span.from, to: time > span.to ? time : span.to };
}

/** The lines of rows that were checked before. @throws ReportRefused if the file has changed since */
export async function* soundLines<T>(rows: AsyncIterable<ReadRow<T>>): AsyncGenerator<T> {
  for await (const { line, fault } of rows) {
    if (fault !== null) throw new ReportRefused([fault]);
    yield line;
  }
}
