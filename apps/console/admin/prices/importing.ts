import { api, type Shape } from '../../api/client.js';
import { ApiFailure } from '../../api/failure.js';

/** Rows of a JSON document, or the text of a CSV file. */
export interface Importing {
  rows?: unknown[];
  csv?: string;
  effectiveAt: string | null;
  note: string;
}

/** @throws ApiFailure at the field `rows` when a JSON document holds no list of rows. */
export async function readFile(file: File): Promise<Pick<Importing, 'rows' | 'csv'>> {
  const text = await file.text();
  if (!file.name.endsWith('.json') && file.type !== 'application/json') return { csv: text };
  const rows = rowsOf(text);
  if (rows) return { rows };
  const message = 'rows: must be a JSON document with a list of rows, as the export has it.';
  throw new ApiFailure({ status: 0, code: 'invalid_value', param: 'rows', message });
}

function rowsOf(text: string): unknown[] | null {
  try {
    const document = JSON.parse(text) as unknown;
    const rows = Array.isArray(document) ? document : (document as { rows?: unknown } | null)?.rows;
    return Array.isArray(rows) ? (rows as unknown[]) : null;
  } catch {
    return null;
  }
}

/** A dry run: nothing is proposed yet. */
export function compare(wanted: Importing): Promise<Shape<'PriceImport'>> {
  return send(wanted, true);
}

export async function send(wanted: Importing, dryRun: boolean): Promise<Shape<'PriceImport'>> {
  const { rows, csv = '', effectiveAt, note } = wanted;
  if (rows) {
    const { data } = await api.POST('/api/admin/prices/import', {
      body: { rows, effectiveAt, note, dryRun },
    });
    return data!;
  }
  const { data } = await api.POST('/api/admin/prices/import.csv', {
    params: { query: { note, dryRun: dryRun ? 'true' : 'false', ...(effectiveAt ? { effectiveAt } : {}) } },
    headers: { 'content-type': 'text/csv' },
    body: csv,
    bodySerializer: (text) => text,
  });
  return data!;
}
