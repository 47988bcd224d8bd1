import type pg from 'pg';
import { inTransaction } from '#database/database.js';
import { audit } from '#identity/audit-log.js';
import { crashPoint } from '#platform/crash-points.js';
import { type DueDeletion, settleDeletion } from './deletion-settlement.js';
import { anonymise, erase, hasFiles, type ErasureSubject } from './erasure.js';

export interface DeletionRunnerOptions {
  pool: pg.Pool;
  /** The longest life of a file. Once the last call is older, none is left. */
  fileLifeMs: number;
  /** The pause before a waiting deletion is checked again. */
  retryMs: number;
}

/** After this time, other processes take over the deletion of one that died. */
const LEASE_MS = 60_000;

/**
 * Carries out due deletions. Every step is safe to repeat and depends only on the database, so a process that is killed
 * leaves nothing but a lease that expires.
 */
export class DeletionRunner {
  constructor(private readonly options: DeletionRunnerOptions) {}

  /** Continues one deletion as far as possible. @returns whether there may be another */
  async round(): Promise<boolean> {
    const due = await this.claim();
    if (!due) return false;
    await this.carryOut(due);
    return true;
  }

  private async claim(): Promise<DueDeletion | null> {
    const { rows } = await this.options.pool.query<DueDeletion>(
      `UPDATE deletion_requests SET next_try_at = now() + $1::float8 * interval '1 millisecond'
       WHERE id = (SELECT id FROM deletion_requests WHERE state IN ('requested', 'running') AND next_try_at <= now()
         ORDER BY next_try_at LIMIT 1 FOR UPDATE SKIP LOCKED)
       RETURNING id, account_id AS "accountId"`,
      [LEASE_MS],
    );
    return rows[0] ?? null;
  }

  private async carryOut(due: DueDeletion): Promise<void> {
    const { pool } = this.options;
    if (!(await settleDeletion(pool, due, this.options))) return;
    crashPoint('deletion.settled');
    const subject = await this.subjectOf(due);
    await erase(pool, subject, () => this.putOff(due, LEASE_MS));
    crashPoint('deletion.erased');
    if (await hasFiles(pool, subject)) {
      await pool.query(`UPDATE deletion_requests SET waiting_for = 'files' WHERE id = $1`, [due.id]);
      return this.putOff(due, this.options.retryMs);
    }
    await this.finish(due, subject);
  }

  private async subjectOf({ accountId }: DueDeletion): Promise<ErasureSubject> {
    const { rows } = await this.options.pool.query<{ userId: string; email: string }>(
      'SELECT id AS "userId", email FROM users WHERE account_id = $1',
      [accountId],
    );
    return { accountId, ...(rows[0] ?? { userId: null, email: null }) };
  }

  private async putOff({ id }: DueDeletion, ms: number): Promise<void> {
    await this.options.pool.query(
      `UPDATE deletion_requests SET next_try_at = now() + $2::float8 * interval '1 millisecond' WHERE id = $1`,
      [id, ms],
    );
  }

  private finish({ id, accountId }: DueDeletion, subject: ErasureSubject): Promise<void> {
    return inTransaction(this.options.pool, async (client) => {
      const { rowCount } = await client.query(
        `UPDATE deletion_requests SET state = 'done', ended_at = now(), waiting_for = NULL WHERE id = $1 AND state = 'running'`,
        [id],
      );
      if (rowCount !== 1) return;
      await anonymise(client, subject);
      await audit(client, {
        actor: 'system',
        action: 'account.deletion_done',
        accountId,
        after: { deletionId: id },
        requestId: null,
      });
    });
  }
}
