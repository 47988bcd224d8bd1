import type pg from 'pg';
import type { PriceChange } from './price-change.js';
import { type Comparison, compareRows, type FileRow, priceCsv, pricesInForce } from './price-file.js';
import { effectiveMs } from './based-change.js';
import { readPrices } from './prices-here.js';
import type { Proposal } from './proposal.js';
import type { DoneBy, ProposalNote, ProposalService } from './proposal.service.js';

export interface ImportOptions {
  readonly effectiveAt: Date | null;
  readonly note: string;
  readonly dryRun: boolean;
  /** Stores what belongs to the proposal, in its transaction. */
  readonly also?: ProposalNote;
}

export interface PriceImport extends Comparison {
  readonly dryRun: boolean;
  readonly proposal: Proposal | null;
}

export interface PriceExport {
  readonly exportedAt: Date;
  readonly changes: PriceChange[];
  readonly csv: () => string;
}

/** Everything in force, in the format of an import. */
export async function exportPrices(pool: pg.Pool): Promise<PriceExport> {
  const { book, nowMs } = await readPrices(pool);
  const changes = pricesInForce(book, nowMs);
  return { exportedAt: new Date(nowMs), changes, csv: () => priceCsv(book, changes) };
}

/**
 * Compares rows with what is in force at the effective time. Unless it is a dry run or a row is refused, creates one
 * proposal of the differences. @throws ApiError for a time that has passed
 */
export async function importPrices(
  { pool, service }: { pool: pg.Pool; service: ProposalService },
  { rows, ...options }: ImportOptions & { rows: readonly FileRow[] },
  by: DoneBy,
): Promise<PriceImport> {
  const { effectiveAt, note, dryRun, also } = options;
  const here = await readPrices(pool);
  const compared = compareRows(here, rows, effectiveMs(effectiveAt, here.nowMs));
  const changes = [...compared.added, ...compared.changed].map(({ change }) => change);
  const isProposed = !dryRun && compared.refused.length === 0 && changes.length > 0;
  const proposal = isProposed ? await service.propose({ changes, effectiveAt, note }, by, also) : null;
  return { ...compared, dryRun, proposal };
}
