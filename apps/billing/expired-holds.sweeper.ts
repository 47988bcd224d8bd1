import type pg from 'pg';
import type { Bus } from '#bus/bus.js';
import { topics } from '#bus/topics.js';
import type { PostingEngine } from '#ledger/charges/posting-engine.js';
import { formatAmount } from '#money/amount.js';
import type { Logger } from '#platform/logging.js';
import type { BillingMetrics } from './billing.metrics.js';
import { OverdueRows } from './overdue-rows.js';

/** Large enough that one round handles what a crashed gateway left, small enough that a round stays short. */
const MAX_PER_ROUND = 200;

const EXPIRED = `
SELECT c.id AS "chargeId", c.account_id AS "accountId" FROM charges c
WHERE c.state = 'held' AND c.deadline < now() - $1::double precision * interval '1 millisecond'
  AND ($2::text[] IS NULL OR c.id = ANY ($2))
  AND NOT EXISTS (SELECT FROM outbox o WHERE o.payload ->> 'chargeId' = c.id)
  AND NOT EXISTS (SELECT FROM dead_letters d WHERE d.charge_id = c.id AND d.consumer_group = 'billing'
    AND d.replayed_at IS NULL)
ORDER BY c.deadline LIMIT ${MAX_PER_ROUND}`;

interface ExpiredHold {
  chargeId: string;
  accountId: string;
}

export interface SweepParts {
  pool: pg.Pool;
  bus: Bus;
  engine: Pick<PostingEngine, 'resolve'>;
  metrics: BillingMetrics;
  log: Logger;
  graceMs: number;
}

/**
 * Releases holds that nobody resolved before their deadline, by the database's clock. It never guesses: a hold is released
 * only when every `charge.resolved` sent before has been handled, the outbox has nothing for it, and no dead letter names
 * it (a person must look at the dead letter; replaying it puts it into the outbox).
 */
export class ExpiredHoldsSweeper {
  private readonly overdue: OverdueRows<ExpiredHold>;

  constructor(private readonly parts: SweepParts) {
    this.overdue = new OverdueRows(parts.bus, topics.chargeResolved);
  }

  /** One bounded round; true when more may be waiting. */
  async round(): Promise<boolean> {
    const found = await this.overdue.confirmed(() => this.expired(null));
    if (found.length === 0) return false;
    const still = await this.expired(found.map(({ chargeId }) => chargeId));
    await Promise.all(still.map((hold) => this.release(hold)));
    return found.length === MAX_PER_ROUND;
  }

  private async expired(among: string[] | null): Promise<ExpiredHold[]> {
    const { pool, graceMs } = this.parts;
    return (await pool.query<ExpiredHold>(EXPIRED, [graceMs, among])).rows;
  }

  private async release({ chargeId, accountId }: ExpiredHold): Promise<void> {
    const { engine, metrics, log } = this.parts;
    const result = await engine.resolve({
      chargeId,
      accountId,
      outcome: 'failed',
      deliveredUnits: null,
      channel: null,
      reason: 'deadline_passed',
      upstreamStatus: null,
      latencyMs: null,
    });
    if (result.outcome !== 'released') return;
    metrics.holdsSwept.inc();
    log.warn(
      { chargeId, accountId, released: formatAmount(result.released) },
      'released a hold that nothing resolved before its deadline',
    );
  }
}
