import type pg from 'pg';
import { inTransaction } from '#database/database.js';
import { audit } from '#identity/audit-log.js';
import { lockOne } from '#database/locks.js';
import { newId } from '#platform/ids.js';
import type { ReportDays } from './coverage.js';
import type { FileSource } from './csv-rows.js';
import { type Coverage, type ReadRow, soundLines, readThrough } from './file-rows.js';
import type { ReportContent, ReportingProvider, ReportLine } from './report-line.js';
import { contentOfStripeCsv, readStripeCsv } from './stripe-csv.js';

export interface ImportCounts {
  lines: number;
  /** Not known before. */
  added: number;
  /** Known before, with content that differs from the first or last version. The payments control reports what is new. */
  changed: number;
}

export interface ReportImport extends ImportCounts {
  /** Null for a dry run. */
  reportId: string | null;
  covers: Coverage | null;
  /** Payouts whose lines could not be fetched. They are fetched again next time. */
  missingPayouts?: readonly { payoutId: string; reason: string }[];
}

export interface ReportHeader {
  provider: ReportingProvider;
  source: 'csv' | 'api' | 'table';
  content: ReportContent;
  sha256: string | null;
  /** `user:{id}`, `cli:{login}` or `system`. */
  actor: string;
}

export interface FileImport {
  actor: string;
  /** Reads and compares everything, but stores nothing. */
  dryRun: boolean;
  days: ReportDays;
  onProgress?: ((lines: number) => void) | undefined;
  inTransaction?: ((client: pg.ClientBase, result: ReportImport) => Promise<void>) | undefined;
}

/** Notes an import in the audit log, in its transaction. */
export function auditedAs(
  subject: string,
  actor: string,
  requestId: string | null,
): NonNullable<FileImport['inTransaction']> {
  return (client, { reportId, lines, added, changed }) =>
    audit(client, {
      actor,
      action: 'report.imported',
      subject: `report:${subject}`,
      after: { reportId, lines, added, changed },
      requestId,
    });
}

/** The number of lines written to the database together. */
const CHUNK = 1_000;

/**
 * Imports a Stripe report, whose days are in UTC, completely or not at all and in bounded memory. The source is read more than
 * once. Known lines stay as they are; changed lines are noted. A report with movements from before its days lists the payouts
 * of these days and not what happened in them, so it covers no time.
 * @throws ReportRefused with the faulty rows
 */
export async function importStripeCsv(
  pool: pg.Pool,
  source: FileSource,
  options: FileImport,
): Promise<ReportImport> {
  const { from, to } = options.days;
  const content = await contentOfStripeCsv(source);
  const last = content === 'activity' ? to : null;
  const reader = (file: FileSource) => readStripeCsv(file, last);
  const read = await readThrough(source, reader, ({ happenedAt }) => happenedAt);
  const isWhole = content === 'payouts' || read.span === null || read.span.from >= from;
  const asked = isWhole ? { from: `${from}T00:00:00Z`, to: `${to}T00:00:00Z` } : null;
  const { actor } = options;
  const header: ReportHeader = { provider: 'stripe', source: 'csv', actor, content, sha256: read.sha256 };
  const file: ImportedFile<ReportLine> = {
    begin: (client) => beginReport(client, header),
    read: () => reader(source),
    insert: (client, reportId, lines) => insertLines(client, { reportId, provider: 'stripe' }, lines),
    covers: asked,
  };
  return importFile(pool, file, options);
}

export interface ImportedFile<Line> {
  /** Locks what is imported into, and stores the report. @returns its id */
  begin: (client: pg.ClientBase) => Promise<string>;
  read: () => AsyncIterable<ReadRow<Line>>;
  insert: (client: pg.ClientBase, reportId: string, lines: readonly Line[]) => Promise<ImportCounts>;
  covers: Coverage | null;
}

/** Imports a file that was read through before: all of it or nothing, in bounded memory. */
export async function importFile<Line>(
  pool: pg.Pool,
  file: ImportedFile<Line>,
  { onProgress, inTransaction: within, dryRun }: FileImport,
): Promise<ReportImport> {
  const write = async (client: pg.PoolClient): Promise<ReportImport> => {
    await client.query(`SET LOCAL idle_in_transaction_session_timeout = '5min'`);
    const reportId = await file.begin(client);
    const counts = { lines: 0, added: 0, changed: 0 };
    for await (const chunk of chunksOf(soundLines(file.read()))) {
      addCounts(counts, await file.insert(client, reportId, chunk));
      onProgress?.(counts.lines);
    }
    const covers = await finishReport(client, reportId, { ...counts, covers: file.covers });
    const result = { reportId, covers, ...counts };
    await within?.(client, result);
    return result;
  };
  if (!dryRun) return inTransaction(pool, write);
  return { ...(await tried(pool, write)), reportId: null };
}

/** Runs work in a transaction that is rolled back. */
async function tried<T>(pool: pg.Pool, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  let result: { value: T } | undefined;
  try {
    await inTransaction(pool, async (client) => {
      result = { value: await work(client) };
      throw new OnlyTried();
    });
  } catch (error) {
    if (!(error instanceof OnlyTried)) throw error;
  }
  return (result as { value: T }).value;
}

class OnlyTried extends Error {}

export async function* chunksOf<T>(items: AsyncIterable<T>): AsyncGenerator<T[]> {
  let chunk: T[] = [];
  for await (const item of items) {
    chunk.push(item);
    if (chunk.length < CHUNK) continue;
    yield chunk;
    chunk = [];
  }
  if (chunk.length > 0) yield chunk;
}

export function addCounts(sum: ImportCounts, more: ImportCounts): void {
  sum.lines += more.lines;
  sum.added += more.added;
  sum.changed += more.changed;
}

/** Begins an import. Imports of one provider run one at a time, until their transaction ends. */
export async function beginReport(client: pg.ClientBase, header: ReportHeader): Promise<string> {
  const { provider, source, content, sha256, actor } = header;
  await lockProvider(client, provider);
  const id = newId();
  await client.query(
    `INSERT INTO provider_reports (id, provider, source, holds, sha256, actor) VALUES ($1, $2, $3, $4, $5, $6)`,
    [id, provider, source, content, sha256, actor],
  );
  return id;
}

export async function lockProvider(client: pg.ClientBase, provider: string): Promise<void> {
  await lockOne(client, 'provider-report', provider);
}

/**
 * Records what a report contained and the range that it covers, without its last instant, so that the next one follows directly.
 * The future is in no report. @returns what it covers, as text of the database
 */
export async function finishReport(
  client: pg.ClientBase | pg.Pool,
  reportId: string,
  { lines, added, changed, covers }: ImportCounts & { covers: Coverage | null },
): Promise<Coverage | null> {
  const { rows } = await client.query<{ from: string | null; to: string | null }>(
    `UPDATE provider_reports SET lines = $2, added = $3, changed = $4, finished_at = clock_timestamp(),
       covers = CASE WHEN $5::timestamptz < clock_timestamp()
         THEN tstzrange($5::timestamptz, least($6::timestamptz, clock_timestamp()), '[)') END
     WHERE id = $1 RETURNING lower(covers)::text AS from, upper(covers)::text AS to`,
    [reportId, lines, added, changed, covers?.from ?? null, covers?.to ?? null],
  );
  const { from = null, to = null } = rows[0] ?? {};
  return from === null || to === null ? null : { from, to };
}

/** Writes each line once. The caller holds the provider lock. */
export async function insertLines(
  client: pg.ClientBase,
  { reportId, provider }: { reportId: string; provider: ReportingProvider },
  lines: readonly ReportLine[],
): Promise<ImportCounts> {
  const values = [provider, reportId, ...columns.map(([name]) => lines.map((line) => valueOf(line[name])))];
  const added = await client.query<{ count: number }>(INSERT_LINES, values);
  await client.query(INSERT_PAYOUTS, values);
  const changed = await client.query<{ count: number }>(INSERT_CHANGES, values);
  return { lines: lines.length, added: added.rows[0]?.count ?? 0, changed: changed.rows[0]?.count ?? 0 };
}

const columns = [
  ['lineId', 'text'],
  ['type', 'text'],
  ['amountMinor', 'bigint'],
  ['feeMinor', 'bigint'],
  ['currency', 'text'],
  ['happenedAt', 'timestamptz'],
  ['availableOn', 'date'],
  ['subjectId', 'text'],
  ['paymentId', 'text'],
  ['payoutId', 'text'],
  ['description', 'text'],
] as const;

function valueOf(value: string | bigint | null): string | null {
  return typeof value === 'bigint' ? value.toString() : value;
}

const GIVEN = `given AS (
  SELECT * FROM unnest(${columns
    .map(([, type], at) => `$${at + 3}::${type}[]`)
    .join(
      ', ',
    )}) WITH ORDINALITY AS g (line_id, type, amount_minor, fee_minor, currency, happened_at, available_on, subject_id, payment_id,
    payout_id, description, place), (VALUES ($1::text, $2::text)) AS report (provider, report_id))`;

const INSERT_LINES = `WITH ${GIVEN}, added AS (
    INSERT INTO provider_report_lines (provider, line_id, report_id, type, amount_minor, fee_minor, currency, happened_at,
      available_on, subject_id, payment_id, description)
    SELECT provider, line_id, report_id, type, amount_minor, fee_minor, currency, happened_at, available_on, subject_id,
      payment_id, description FROM given ORDER BY happened_at, line_id
    ON CONFLICT (provider, line_id) DO NOTHING RETURNING id, type, fee_minor),
  work AS (
    INSERT INTO provider_line_work (line)
    SELECT id FROM added WHERE fee_minor <> 0 OR type IN ('fee', 'payout', 'payout_failure', 'adjustment'))
  SELECT count(*)::int AS count FROM added`;

const INSERT_PAYOUTS = `WITH ${GIVEN}
  INSERT INTO provider_line_payouts (line, provider, payout_id, report_id)
  SELECT l.id, g.provider, g.payout_id, g.report_id FROM given g
  JOIN provider_report_lines l ON l.provider = g.provider AND l.line_id = g.line_id
  WHERE g.payout_id IS NOT NULL ON CONFLICT (line) DO NOTHING`;

/** One version of a provider's line, as stored. */
const WORD = (
  of: string,
  payoutId: string,
): string => `jsonb_strip_nulls(jsonb_build_object('type', ${of}.type,
  'amountMinor', ${of}.amount_minor::text, 'feeMinor', ${of}.fee_minor::text, 'currency', ${of}.currency, 'happenedAt',
  to_char(${of}.happened_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), 'subjectId', ${of}.subject_id,
  'paymentId', ${of}.payment_id, 'payoutId', ${payoutId}))`;

/**
 * What differs from the last version, even if it equals the first: someone may have accepted a version in between. What a report
 * leaves out is no difference. Payout reports have the arrival time and transaction reports the departure time, so these are not
 * compared.
 */
const INSERT_CHANGES = `WITH ${GIVEN}, versions AS (
    SELECT l.id, g.report_id, g.place, ${WORD('g', 'g.payout_id')} AS word, ${WORD('l', 'p.payout_id')} AS first,
      CASE WHEN l.type IN ('payout', 'payout_failure') THEN 'happenedAt' ELSE '' END AS passed_over
    FROM given g
    JOIN provider_report_lines l ON l.provider = g.provider AND l.line_id = g.line_id
    LEFT JOIN provider_line_payouts p ON p.line = l.id),
  compared AS (
    SELECT *, first || coalesce((SELECT c.content FROM provider_line_changes c WHERE c.line = versions.id ORDER BY c.id DESC LIMIT 1),
      '{}') || coalesce(lag(word) OVER (PARTITION BY id ORDER BY place), '{}') AS last FROM versions),
  noted AS (
    INSERT INTO provider_line_changes (line, report_id, content) SELECT id, report_id, word FROM compared
    WHERE (last || word) - passed_over <> last - passed_over ORDER BY place)
  SELECT count(DISTINCT id)::int AS count FROM compared
  WHERE (last || word) - passed_over <> last - passed_over OR (first || word) - passed_over <> first - passed_over`;
