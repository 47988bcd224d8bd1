import type pg from 'pg';
import { audit } from '#identity/audit-log.js';
import { ApiError } from '#platform/errors.js';
import { newId } from '#platform/ids.js';
import { type BankLine, type BankMapping, bankMapping, readBankCsv, storedMapping } from './bank-csv.js';
import { todayIn } from '../coverage.js';
import type { FileSource } from '../csv-rows.js';
import { readThrough } from '../file-rows.js';
import {
  type FileImport,
  type ImportCounts,
  type ImportedFile,
  importFile,
  lockProvider,
  type ReportImport,
} from '../report.import.js';

export interface BankAccount {
  id: string;
  mapping: BankMapping;
}

/** @returns null if there is no such account */
async function findBankAccount(client: pg.ClientBase | pg.Pool, id: string): Promise<BankAccount | null> {
  const { rows } = await client.query<{ id: string; mapping: unknown }>(
    'SELECT id, mapping FROM bank_accounts WHERE id = $1',
    [id],
  );
  return rows[0] ? { id, mapping: storedMapping.parse(rows[0].mapping) } : null;
}

/** How its files are read. @throws ApiError not_found without one, conflict if that of an earlier version has to be changed */
export async function usableMapping(pool: pg.Pool, id: string): Promise<BankMapping> {
  const account = await findBankAccount(pool, id);
  if (!account) throw new ApiError('not_found', `There is no bank account ${id}: define its mapping first.`);
  const issue = bankMapping.safeParse(account.mapping).error?.issues[0];
  if (!issue) return account.mapping;
  const message = `The mapping of ${id} is from an earlier version: ${issue.path.join('.')} ${issue.message}. Save it again.`;
  throw new ApiError('conflict', message);
}

export async function listBankAccounts(client: pg.ClientBase | pg.Pool): Promise<BankAccount[]> {
  const { rows } = await client.query<{ id: string; mapping: unknown }>(
    'SELECT id, mapping FROM bank_accounts ORDER BY id',
  );
  return rows.map(({ id, mapping }) => ({ id, mapping: storedMapping.parse(mapping) }));
}

/** Saves how its files are read, with an entry in the audit log. */
export async function saveBankAccount(
  client: pg.ClientBase,
  { id, mapping }: BankAccount,
  { actor, requestId }: { actor: string; requestId: string | null },
): Promise<void> {
  const before = await findBankAccount(client, id);
  await client.query(
    `INSERT INTO bank_accounts (id, mapping, actor) VALUES ($1, $2, $3)
     ON CONFLICT (id) DO UPDATE SET mapping = excluded.mapping, actor = excluded.actor, updated_at = now()`,
    [id, JSON.stringify(mapping), actor],
  );
  await audit(client, {
    actor,
    action: 'bank-account.saved',
    subject: `bank-account:${id}`,
    before: before?.mapping,
    after: mapping,
    requestId,
  });
}

/**
 * Imports a bank file, completely or not at all. Known lines stay as they are. If a line with a bank's own ID has changed, the
 * file is refused, because banks do not change what they have booked. A `mapping` is stored with the import.
 * @throws ApiError not_found if the account has no mapping, conflict if it is no longer valid; ReportRefused with the faulty
 * rows
 */
export async function importBankCsv(
  pool: pg.Pool,
  {
    accountId,
    source,
    mapping: given,
  }: { accountId: string; source: FileSource; mapping?: BankMapping | undefined },
  options: FileImport,
): Promise<ReportImport> {
  const mapping = given ?? (await usableMapping(pool, accountId));
  const { days } = options;
  const { timeZone } = mapping;
  const today = await todayIn(pool, timeZone);
  const read = (file: FileSource) => readBankCsv(file, mapping, { today, days });
  const { sha256 } = await readThrough(source, read, ({ bookedOn }) => bookedOn);
  const { actor } = options;
  const file: ImportedFile<BankLine> = {
    begin: async (client) => {
      await lockProvider(client, `bank:${accountId}`);
      if (given) await saveBankAccount(client, { id: accountId, mapping }, { actor, requestId: null });
      return beginBankReport(client, { accountId, sha256, actor });
    },
    read: () => read(source),
    insert: (client, reportId, lines) => insertBankLines(client, { reportId, accountId }, lines),
    covers: { from: `${days.from} ${timeZone}`, to: `${days.to} ${timeZone}` },
  };
  return importFile(pool, file, options);
}

async function beginBankReport(
  client: pg.ClientBase,
  { accountId, sha256, actor }: { accountId: string; sha256: string; actor: string },
): Promise<string> {
  const reportId = newId();
  await client.query(
    `INSERT INTO provider_reports (id, provider, bank_account_id, source, holds, sha256, actor)
     VALUES ($1, 'bank', $2, 'csv', 'all', $3, $4)`,
    [reportId, accountId, sha256, actor],
  );
  return reportId;
}

const GIVEN = `unnest($2::text[], $3::date[], $4::bigint[], $5::text[], $6::text[])
  AS g (line_id, booked_on, amount_minor, currency, reference)`;

async function insertBankLines(
  client: pg.ClientBase,
  { reportId, accountId }: { reportId: string; accountId: string },
  lines: readonly BankLine[],
): Promise<ImportCounts> {
  const values = [
    lines.map(({ lineId }) => lineId),
    lines.map(({ bookedOn }) => bookedOn),
    lines.map(({ amountMinor }) => amountMinor.toString()),
    lines.map(({ currency }) => currency),
    lines.map(({ reference }) => reference),
  ];
  const { rowCount } = await client.query(
    `INSERT INTO bank_lines (bank_account_id, line_id, report_id, booked_on, amount_minor, currency, reference)
     SELECT $1, line_id, $7, booked_on, amount_minor, currency, reference FROM ${GIVEN}
     ON CONFLICT (bank_account_id, line_id) DO NOTHING`,
    [accountId, ...values, reportId],
  );
  await refuseOther(client, [accountId, ...values]);
  return { lines: lines.length, added: rowCount ?? 0, changed: 0 };
}

async function refuseOther(client: pg.ClientBase, values: unknown[]): Promise<void> {
  const { rows } = await client.query<{ lineId: string }>(
    `SELECT l.line_id AS "lineId" FROM ${GIVEN} JOIN bank_lines l ON l.bank_account_id = $1 AND l.line_id = g.line_id
     WHERE (l.booked_on, l.amount_minor, l.currency) IS DISTINCT FROM (g.booked_on, g.amount_minor, g.currency) LIMIT 1`,
    values,
  );
  const other = rows[0];
  if (!other) return;
  const message = `Nothing was imported. The line ${other.lineId} was imported before with a different day or amount.`;
  throw new ApiError('conflict', message);
}
