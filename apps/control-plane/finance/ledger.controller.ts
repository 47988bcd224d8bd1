import { Controller } from '@nestjs/common';
import type pg from 'pg';
import { Readable } from 'node:stream';
import { booksOfPeriod, findPeriod } from '#finance/periods/period.js';
import { exportFormats, exportLedger } from '#ledger/export/export.js';
import {
  findLedgerAccount,
  ledgerAccountStatement,
  listLedgerAccounts,
} from '#ledger/reports/ledger-account-statement.js';
import type { RangeQuery } from '#ledger/export/range.js';
import { type TimeOf, trialBalance } from '#ledger/reports/trial-balance.js';
import { ApiError, invalidField } from '#platform/errors.js';
import { announceFile } from '#platform/http/attachment.js';
import { inSequence, sendCsv } from '#platform/http/csv.js';
import { pageFrom, readCursorId, sliceOf } from '#platform/http/page.js';
import { ledgerCursorKey, readLedgerCursor } from '#finance/views/ledger.cursor.js';
import {
  ledgerAccountView,
  trialBalanceColumns,
  statementView,
  trialBalanceView,
} from '#finance/views/ledger.view.js';
import { Using } from '#platform/wiring.js';
import { CONTROL_PLANE_CONFIG } from '../control-plane.tokens.js';
import { type CallOf, Serves } from '../http/route.js';
import { ledgerRoutes as routes } from './ledger.routes.js';

/** The ledger as finance reads it: balances, statements and files. It changes nothing. */
@Controller()
export class LedgerController extends Using({ config: CONTROL_PLANE_CONFIG }) {
  @Serves(routes.trialBalance)
  trialBalance({ query, database }: CallOf<typeof routes.trialBalance>) {
    return this.balancesAt(database, query);
  }

  @Serves(routes.trialBalance.csv)
  async trialBalanceCsv({ query, database, reply }: CallOf<typeof routes.trialBalance.csv>) {
    const { balances } = await this.balancesAt(database, query);
    return sendCsv(reply, trialBalanceColumns, inSequence(balances));
  }

  private async balancesAt(database: pg.Pool, asked: InstantAsked) {
    const { by, at, recordedBefore = null } = asked;
    refuseRecordedBefore(by, recordedBefore, 'by recorded time give at.');
    return trialBalanceView(
      await trialBalance(database, { by, at: at ?? null, recordedBefore }),
      this.config.payments.currency,
    );
  }

  @Serves(routes.accounts)
  async accounts({ query, database }: CallOf<typeof routes.accounts>) {
    const { limit, cursor, code = null } = query;
    const after = readCursorId(cursor);
    const found = await listLedgerAccounts(database, { limit: limit + 1, after, codePrefix: code });
    const views = found.map((account) => ledgerAccountView(account, this.config.payments.currency));
    return pageFrom(views, limit, (account) => [account.code]);
  }

  @Serves(routes.statement)
  async statement({ params, query, database }: CallOf<typeof routes.statement>) {
    const { limit, cursor } = query;
    const asked = { ...(await rangeOf(database, query)), limit, after: readLedgerCursor(cursor) };
    const statement = await ledgerAccountStatement(database, BigInt(params.ledgerAccountId), asked);
    if (!statement) throw new ApiError('not_found', 'There is no such ledger account.');
    const { items, ...view } = statementView(statement, this.config.payments.currency);
    const next = statement.next && ledgerCursorKey(statement.next);
    return { ...view, ...sliceOf({ items, next }, (item) => item) };
  }

  @Serves(routes.export)
  async export({ query, database, reply }: CallOf<typeof routes.export>): Promise<Readable> {
    const { format, detail } = query;
    const ledgerAccountId = query.ledgerAccountId === undefined ? null : BigInt(query.ledgerAccountId);
    const summary = detail === 'summary';
    if (summary && ledgerAccountId !== null) {
      throw invalidField('detail', 'a summary covers the whole company; one account is shown in full.');
    }
    if (ledgerAccountId !== null && !(await findLedgerAccount(database, ledgerAccountId))) {
      throw new ApiError('not_found', 'There is no such ledger account.');
    }
    const range = await rangeOf(database, query);
    const { mediaType, extension } = exportFormats[format];
    announceFile(reply, `ledger.${extension}`, mediaType);
    const asked = { format, ...range, ledgerAccountId, summary, currency: this.config.payments.currency };
    // A client that disconnects destroys the stream, which ends the export and its snapshot.
    return Readable.from(exportLedger(database, asked));
  }
}

interface InstantAsked {
  by: TimeOf;
  at?: Date | undefined;
  recordedBefore?: string | undefined;
}

interface RangeAsked {
  by?: TimeOf | undefined;
  from?: Date | undefined;
  to?: Date | undefined;
  recordedBefore?: string | undefined;
  period?: string | undefined;
}

/** @throws ApiError for times that contradict each other, or a period that is not closed */
async function rangeOf(database: pg.Pool, query: RangeAsked): Promise<RangeQuery> {
  const { period, by, from = null, to = null, recordedBefore = null } = query;
  if (period === undefined) {
    refuseRecordedBefore(by ?? 'recorded', recordedBefore, 'by recorded time give to.');
    return { by: by ?? 'recorded', from, to, recordedBefore };
  }
  if (by !== undefined || from !== null || to !== null || recordedBefore !== null) {
    throw invalidField('period', 'replaces by, from, to and recordedBefore.');
  }
  const found = await findPeriod(database, BigInt(period));
  if (!found) throw new ApiError('not_found', 'There is no such period.');
  const range = booksOfPeriod(found);
  if (!range) throw new ApiError('conflict', 'The period is not closed.');
  return range;
}

function refuseRecordedBefore(by: TimeOf, recordedBefore: string | null, hint: string): void {
  if (by === 'effective' || recordedBefore === null) return;
  throw invalidField('recordedBefore', `is for effective time; ${hint}`);
}
