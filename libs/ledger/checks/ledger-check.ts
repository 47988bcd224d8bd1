import type pg from 'pg';
import { adjustmentChecks, latePostingCheck } from './adjustment-check.js';
import { balanceChecks } from './balance-checks.js';
import { chargeChecks } from './charge-checks.js';
import type { LedgerRule } from './ledger-rule.js';
import { deferredCheck, lotChecks } from './lot-check.js';
import { moneyInChecks } from './money-in-checks.js';
import { providerChecks } from './provider-checks.js';
import type { RuleState } from './rule-state.js';
import { recomputeChecks } from './recompute-checks.js';

export interface Violation {
  invariant: number;
  state: RuleState;
  message: string;
  /** The offending rows, at most ROWS_SHOWN of them. */
  rows: Record<string, string | null>[];
}

export interface LedgerCheckResult {
  ok: boolean;
  violations: Violation[];
}

export interface LedgerCheckOptions {
  /** Work younger than this may still be in flight between a task's end and its charge's. */
  graceMs: number;
  /** Called before the first rule and after each one. */
  onProgress?: (done: number, total: number) => void;
  /** Checks within the caller's transaction instead of on its own snapshot. */
  client?: pg.ClientBase;
}

/** The number of offending rows that a violation shows. */
export const ROWS_SHOWN = 20;

/** They run on one snapshot of a live database. */
const RULES: readonly LedgerRule[] = [
  ...balanceChecks,
  ...chargeChecks,
  ...moneyInChecks,
  { invariant: 1, ...deferredCheck },
  ...lotChecks.map((check) => ({ invariant: 2, ...check })),
  ...adjustmentChecks.map((check) => ({ invariant: 9, ...check })),
  { invariant: 15, ...latePostingCheck },
  ...providerChecks,
  ...recomputeChecks,
];

/**
 * Verifies the invariants 1, 2, 3, 5, 6, 7, 8, 9, 11, 12 and part of 15 on one snapshot of a live database, and names the
 * offending rows. Only reads. Its time grows with the ledger.
 */
export async function checkLedger(pool: pg.Pool, options: LedgerCheckOptions): Promise<LedgerCheckResult> {
  if (options.client) return checkLedgerOn(options.client, options);
  const client = await pool.connect();
  try {
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    return await checkLedgerOn(client, options);
  } finally {
    await client.query('ROLLBACK').catch(() => undefined);
    client.release();
  }
}

/** The same on the snapshot of the caller's transaction. */
export async function checkLedgerOn(
  client: pg.ClientBase,
  { graceMs, onProgress }: Omit<LedgerCheckOptions, 'client'>,
): Promise<LedgerCheckResult> {
  const { rows } = await client.query<{ before: string }>(
    `SELECT (clock_timestamp() - $1::float8 * interval '1 millisecond')::text AS before`,
    [graceMs],
  );
  const before = rows[0]?.before ?? null;
  const violations: Violation[] = [];
  onProgress?.(0, RULES.length);
  for (const [index, { invariant, state, message, sql }] of RULES.entries()) {
    const found = await client.query<Violation['rows'][number]>(
      `${sql} LIMIT ${ROWS_SHOWN}`,
      sql.includes('$1') ? [before] : [],
    );
    if (found.rows.length > 0) violations.push({ invariant, state, message, rows: found.rows });
    onProgress?.(index + 1, RULES.length);
  }
  return { ok: violations.length === 0, violations };
}
