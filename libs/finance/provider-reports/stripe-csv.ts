import { InvalidAmount } from '#money/amount.js';
import { minorDigits, parseMinor } from '#money/currency.js';
import { isDay, isInstant } from '#platform/times.js';
import { type CsvRow, csvRows, type FileSource } from './csv-rows.js';
import { CellFault, type ReadRow, readReportRows } from './file-rows.js';
import { keptText, type LineType, type ReportContent, type ReportLine } from './report-line.js';

/**
 * Stripe's itemized reports as CSV. "Balance change from activity" and "Payout reconciliation" cover everything but payouts,
 * "Payouts" only payouts. Amounts are decimals in units of the currency.
 */

/** Our names for their reporting categories. All others move our balance for reasons that our books do not know. */
const CATEGORIES: Readonly<Record<string, LineType>> = {
  charge: 'payment',
  charge_failure: 'payment',
  partial_capture_reversal: 'payment',
  refund: 'refund',
  refund_failure: 'refund_failure',
  dispute: 'dispute',
  dispute_reversal: 'dispute_reversal',
  fee: 'fee',
  network_cost: 'fee',
  tax: 'fee',
  payout: 'payout',
  payout_reversal: 'payout_failure',
};

export function typeOfCategory(category: string): LineType {
  return CATEGORIES[category] ?? 'adjustment';
}

export function lineSubject(line: {
  type: LineType;
  lineId: string;
  sourceId: string | null;
  paymentId: string | null;
}): string | null {
  const { type, lineId, sourceId, paymentId } = line;
  if (type === 'payment') return paymentId;
  if (type === 'fee' || type === 'adjustment') return lineId;
  return sourceId;
}

const ACTIVITY = [
  'balance_transaction_id',
  'created_utc',
  'currency',
  'gross',
  'fee',
  'reporting_category',
  'source_id',
  'payment_intent_id',
] as const;
const PAYOUTS = [
  'payout_id',
  'effective_at_utc',
  'balance_transaction_id',
  'currency',
  'gross',
  'fee',
  'reporting_category',
] as const;

/**
 * The lines of a report. Anything on the day `before` or later is a fault, because the report was not requested for it. @throws
 * ReportRefused if the file is not a Stripe report
 */
export function readStripeCsv(
  source: FileSource,
  before: string | null = null,
): AsyncGenerator<ReadRow<ReportLine>> {
  return readReportRows(csvRows(source, { checkHeader }), ({ cells }) => {
    const line = lineOf(cells);
    if (before !== null && line.happenedAt >= before)
      throw new CellFault('created_utc', `is not before ${before}, up to which the report is to go.`);
    return line;
  });
}

/** What a file covers, by its header, because it can have no lines. @throws ReportRefused */
export async function contentOfStripeCsv(source: FileSource): Promise<ReportContent> {
  let content: ReportContent = 'activity';
  const noted = (titles: readonly string[]) => {
    if (titles.includes('payout_id') && !titles.includes('source_id')) content = 'payouts';
    return checkHeader(titles);
  };
  for await (const _ of csvRows(source, { checkHeader: noted })) break;
  return content;
}

function checkHeader(titles: readonly string[]): string | null {
  const lacks = (wanted: readonly string[]) => wanted.filter((column) => !titles.includes(column));
  const [ofActivity, ofPayouts] = [lacks(ACTIVITY), lacks(PAYOUTS)];
  if (ofActivity.length === 0 || ofPayouts.length === 0) return null;
  const nearest = ofPayouts.length < ofActivity.length ? ofPayouts : ofActivity;
  return `lacks ${nearest.join(', ')}: take the itemized report with these columns.`;
}

function isPayouts(cells: CsvRow['cells']): boolean {
  return cells['payout_id'] !== undefined && cells['source_id'] === undefined;
}

function lineOf(cells: CsvRow['cells']): ReportLine {
  const cell = (column: string) => cells[column] || null;
  const lineId = idIn(cells, 'balance_transaction_id');
  const type = typeOfCategory(textIn(cells, 'reporting_category'));
  const currency = currencyIn(cells);
  const ofPayout = isPayouts(cells);
  const paymentId = cell('payment_intent_id');
  const sourceId = ofPayout ? cell('payout_id') : cell('source_id');
  const subjectId = lineSubject({ type, lineId, sourceId, paymentId });
  if (subjectId === null) throw withoutSubject(type, ofPayout);
  return {
    lineId,
    type,
    currency,
    subjectId,
    paymentId,
    amountMinor: amountIn(cells, 'gross', currency),
    feeMinor: amountIn(cells, 'fee', currency),
    happenedAt: timeIn(cells, ofPayout ? 'effective_at_utc' : 'created_utc'),
    availableOn: cell('available_on_utc')?.slice(0, 10) ?? null,
    payoutId: type === 'payout' || type === 'payout_failure' ? null : cell('automatic_payout_id'),
    description: keptText(type === 'fee' || type === 'adjustment' ? (cell('description') ?? '') : ''),
  };
}

function withoutSubject(type: ReportLine['type'], ofPayout: boolean): CellFault {
  const column = type === 'payment' ? 'payment_intent_id' : ofPayout ? 'payout_id' : 'source_id';
  return new CellFault(column, `must name what the ${type} is about.`);
}

function textIn(cells: CsvRow['cells'], column: string): string {
  const text = cells[column];
  if (!text) throw new CellFault(column, 'is empty.');
  return text;
}

function idIn(cells: CsvRow['cells'], column: string): string {
  const text = textIn(cells, column);
  if (!/^[\x21-\x7e]{1,200}$/.test(text)) throw new CellFault(column, 'must be an id of Stripe.');
  return text;
}

function currencyIn(cells: CsvRow['cells']): string {
  const text = textIn(cells, 'currency').toUpperCase();
  if (!/^[A-Z]{3}$/.test(text)) throw new CellFault('currency', 'must be an ISO code such as usd.');
  return text;
}

function amountIn(cells: CsvRow['cells'], column: string, currency: string): bigint {
  try {
    return parseMinor(textIn(cells, column), currency);
  } catch (error) {
    if (!(error instanceof InvalidAmount)) throw error;
    const rule = `must be an amount with at most ${minorDigits(currency)} decimals.`;
    throw new CellFault(column, rule);
  }
}

function timeIn(cells: CsvRow['cells'], column: string): string {
  const text = textIn(cells, column);
  const iso = /^\d{4}-\d\d-\d\d( \d\d:\d\d(:\d\d)?)?$/.test(text)
    ? `${text.slice(0, 10)}T${text.slice(11) || '00:00'}Z`
    : '';
  // JavaScript reads 2026-02-30 as a day in March.
  if (!isDay(text.slice(0, 10)) || !isInstant(iso))
    throw new CellFault(column, 'must be a time such as 2026-01-31 09:30:00.');
  return new Date(iso).toISOString();
}
