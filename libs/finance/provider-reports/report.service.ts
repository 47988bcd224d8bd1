import type pg from 'pg';
import { ApiError } from '#platform/errors.js';
import { type Page, pageFrom, readCursorId } from '#platform/http/page.js';
import type { FinanceRequest } from '#payments/finance-credit.js';
import { inSnapshot } from '../snapshot.js';
import { importBankCsv, usableMapping } from './bank/bank.import.js';
import { type CoverageList, listCoverage, requireDays, todayIn } from './coverage.js';
import { auditedAs, type FileImport, type ReportImport, importStripeCsv } from './report.import.js';
import { ReportRefused } from './report-line.js';
import { ProviderReports } from './provider-reports.js';

export interface ReportRun {
  id: string;
  provider: 'stripe' | 'sandbox' | 'bank';
  bankAccountId: string | null;
  source: 'csv' | 'api' | 'table';
  sha256: string | null;
  lines: number;
  added: number;
  changed: number;
  coversFrom: string | null;
  coversTo: string | null;
  actor: string;
  startedAt: Date;
  finishedAt: Date | null;
}

interface Upload {
  text: string;
  from: string | undefined;
  to: string | undefined;
  dryRun: boolean;
}

export interface ReportServiceParts {
  readonly pool: pg.Pool;
  readonly reports: ProviderReports;
}

export class ReportService {
  constructor(private readonly parts: ReportServiceParts) {}

  /** @throws ApiError invalid_value if the file cannot be read or the days are invalid */
  importStripe(upload: Upload, asking: FinanceRequest): Promise<ReportImport> {
    return this.import(upload, asking, {
      subject: 'stripe',
      timeZone: 'UTC',
      run: (options) => importStripeCsv(this.parts.pool, sourceOf(upload.text), options),
    });
  }

  /** @throws ApiError invalid_value, not_found, conflict */
  async importBank(accountId: string, upload: Upload, asking: FinanceRequest): Promise<ReportImport> {
    const { timeZone } = await usableMapping(this.parts.pool, accountId);
    return this.import(upload, asking, {
      subject: `bank:${accountId}`,
      timeZone,
      run: (options) => importBankCsv(this.parts.pool, { accountId, source: sourceOf(upload.text) }, options),
    });
  }

  async list(query: { limit: number; cursor?: string | undefined }): Promise<Page<ReportRun>> {
    const after = readCursorId(query.cursor);
    const { rows } = await this.parts.pool.query<ReportRun>(
      `SELECT id, provider, bank_account_id AS "bankAccountId", source, sha256, lines, added, changed,
         lower(covers)::text AS "coversFrom", upper(covers)::text AS "coversTo", actor, started_at AS "startedAt",
         finished_at AS "finishedAt"
       FROM provider_reports WHERE $1::text IS NULL OR id < $1 ORDER BY id DESC LIMIT $2`,
      [after, query.limit + 1],
    );
    return pageFrom(rows, query.limit, ({ id }) => [id]);
  }

  coverage(): Promise<CoverageList[]> {
    return inSnapshot(this.parts.pool, listCoverage);
  }

  private async import(
    { from, to, dryRun }: Upload,
    { actor, auditId }: FinanceRequest,
    what: { subject: string; timeZone: string; run: (options: FileImport) => Promise<ReportImport> },
  ): Promise<ReportImport> {
    const by = `user:${actor.userId}`;
    const days = requireDays({ from, to }, await todayIn(this.parts.pool, what.timeZone));
    try {
      const result = await what.run({
        actor: by,
        dryRun,
        days,
        inTransaction: auditedAs(what.subject, by, auditId),
      });
      if (!dryRun) await this.parts.reports.digest();
      return result;
    } catch (error) {
      if (error instanceof ReportRefused)
        throw new ApiError('invalid_value', error.message, { cause: error });
      throw error;
    }
  }
}

function sourceOf(text: string): () => AsyncIterable<string> {
  return async function* () {
    yield text;
  };
}
