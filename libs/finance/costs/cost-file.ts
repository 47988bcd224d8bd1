import type pg from 'pg';
import { inTransaction } from '#database/database.js';
import { ApiError } from '#platform/errors.js';
import { readCsvFile } from '#platform/http/csv-file.js';
import { namedByLine } from '#pricing/token-kinds.js';
import { isInstant } from '#platform/times.js';
import { type CostFault, costFault, costFaultText } from './cost-fault.js';
import {
  type CostVersion,
  findCostFault,
  insertCost,
  listCosts,
  type NewCost,
  sameCost,
  type UpstreamCost,
} from './cost-versions.js';

const COLUMNS = [
  'channel',
  'model',
  'unit_cost',
  'input_cost',
  'cached_input_cost',
  'output_cost',
  'bills_failures',
  'effective_from',
  'withdrawn',
  'image_input_cost',
  'cached_image_input_cost',
  'image_output_cost',
  'audio_input_cost',
  'cached_audio_input_cost',
  'audio_output_cost',
] as const;

type Cells = Partial<Record<(typeof COLUMNS)[number], string>>;

interface CostRow {
  /** Counted from 1, including the header. */
  readonly line: number;
  readonly wanted: Pick<NewCost, 'channel' | 'model' | 'cost' | 'billsFailures' | 'effectiveFrom'>;
}

interface RefusedCostRow extends CostFault {
  readonly line: number;
  /** The fault in English. */
  readonly reason: string;
}

export interface CostImport {
  readonly dryRun: boolean;
  /** The version in force now, if any. */
  readonly changed: (CostRow & { before: CostVersion | null })[];
  /** Rows that match what is already in force. */
  readonly same: number;
  readonly refused: RefusedCostRow[];
}

/** Reads the rows of a CSV file. @throws ApiError if it is not a CSV file */
function readCostCsv(text: string): { rows: CostRow[]; refused: RefusedCostRow[] } {
  const rows: CostRow[] = [];
  const refused: RefusedCostRow[] = [];
  const lineOf = new Map<string, number>();
  for (const { line, cells } of readCsvFile(text, { columns: COLUMNS, required: ['channel', 'model'] })) {
    const wanted = rowOf(cells);
    if ('code' in wanted) {
      refused.push(refusedRow(line, wanted));
      continue;
    }
    const { channel, model } = wanted;
    const subject = `${model} on ${channel}`;
    const earlier = lineOf.get(subject);
    if (earlier === undefined) rows.push({ line, wanted });
    else refused.push(refusedRow(line, costFault('earlier_line', { channel, model, line: earlier })));
    lineOf.set(subject, line);
  }
  return { rows, refused };
}

function refusedRow(line: number, fault: CostFault): RefusedCostRow {
  return { line, ...fault, reason: costFaultText(fault) };
}

/** Sets all rows that differ from what is in force. If one row is refused, none is set. */
export async function importCosts(
  pool: pg.Pool,
  text: string,
  by: Pick<NewCost, 'actor' | 'reason' | 'requestId'> & { dryRun: boolean },
): Promise<CostImport> {
  const { dryRun, ...origin } = by;
  const { rows, refused: unreadable } = readCostCsv(text);
  return inTransaction(pool, async (client) => {
    const refused = [...unreadable];
    const changed: (CostRow & { before: CostVersion | null })[] = [];
    for (const row of rows) {
      const { channel, model } = row.wanted;
      const faulty = await findCostFault(client, row.wanted);
      if (faulty) refused.push(refusedRow(row.line, faulty.fault));
      const inForce = { limit: 1, beforeId: null, channel, model, inForce: true };
      const [before = null] = await listCosts(client, inForce);
      if (!faulty && !isInForce(row, before)) changed.push({ ...row, before });
    }
    const same = rows.length + unreadable.length - changed.length - refused.length;
    if (!dryRun && refused.length === 0)
      for (const { wanted, line } of changed) await insertRow(client, { ...wanted, ...origin }, line);
    return { dryRun, changed, same, refused: refused.sort((a, b) => a.line - b.line) };
  });
}

function isInForce({ wanted }: CostRow, before: CostVersion | null): boolean {
  if (wanted.effectiveFrom !== null) return false;
  if (before === null) return wanted.cost === null;
  return sameCost(wanted.cost, before.cost) && wanted.billsFailures === before.billsFailures;
}

async function insertRow(client: pg.ClientBase, wanted: NewCost, line: number): Promise<void> {
  try {
    await insertCost(client, wanted);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    throw new ApiError(error.code, `Line ${line}: ${error.message}`);
  }
}

const DECIMAL = /^\d{1,12}(\.\d{1,18})?$/;
const TIME = /^\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:\d\d)$/;

/** The cost that a row sets, or why the row cannot be read. */
function rowOf(cells: Cells): CostRow['wanted'] | CostFault {
  const { channel, model, bills_failures: bills = '', effective_from: from = '' } = cells;
  if (!channel || !model) return costFault('nameless');
  if (!['', 'yes', 'no'].includes(bills)) return costFault('failures_unclear');
  if (from !== '' && (!TIME.test(from) || !isInstant(from))) return costFault('bad_time');
  const cost = costOf(cells);
  if (cost !== null && 'code' in cost) return cost;
  const effectiveFrom = from === '' ? null : new Date(from);
  return { channel, model, cost, billsFailures: bills === 'yes', effectiveFrom };
}

/** The prices of a row for images and sound, by type of line. */
function mediaCells(cells: Cells): Record<string, string> {
  const named = Object.entries(cells).filter(([name, text]) => /(image|audio)_/.test(name) && text !== '');
  return Object.fromEntries(named.map(([name, text]) => [name.replace(/_cost$/, ''), text]));
}

function costOf(cells: Cells): UpstreamCost | null | CostFault {
  const { unit_cost: unit = '', withdrawn = '' } = cells;
  const { input_cost: input = '', cached_input_cost: cachedInput = '', output_cost: output = '' } = cells;
  const perToken = [input, cachedInput, output];
  const media = namedByLine(mediaCells(cells));
  const given = [unit, ...perToken, ...Object.values(media)].filter((text) => text !== '');
  if (withdrawn === 'yes') return given.length === 0 ? null : costFault('withdrawn_with_cost');
  if (withdrawn !== '') return costFault('withdrawn_unclear');
  const bad = given.find((text) => !DECIMAL.test(text));
  if (bad !== undefined) return costFault('not_decimal', { value: bad });
  if (unit !== '' && given.length === 1) return { unitCost: unit };
  if (unit === '' && perToken.every((text) => text !== '')) return { input, cachedInput, output, ...media };
  return costFault('incomplete');
}
