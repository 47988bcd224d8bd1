import { topics } from '#bus/topics.js';
import { BrokenRule } from '#ledger/charges/charge.js';
import { formatAmount } from '#money/amount.js';
import type { TaskState } from '#tasks/task-state.js';
import type { SweepParts } from './expired-holds.sweeper.js';
import { OverdueRows } from './overdue-rows.js';

const MAX_PER_ROUND = 200;

/** The holds of tasks are the held charges without a deadline, so the partial index of held charges finds them. */
const ENDED = `
SELECT c.id AS "chargeId", c.account_id AS "accountId", t.id AS "taskId", t.state, t.channel_id AS channel,
  t.error_code AS reason
FROM charges c JOIN tasks t ON t.charge_id = c.id AND t.account_id = c.account_id
WHERE c.state = 'held' AND c.deadline IS NULL
  AND t.state IN ('completed', 'failed', 'refused')
  AND t.ended_at < now() - $1::double precision * interval '1 millisecond'
  AND ($2::text[] IS NULL OR c.id = ANY ($2)) AND c.id > $3
  AND NOT EXISTS (SELECT FROM outbox o WHERE o.payload ->> 'chargeId' = c.id)
ORDER BY c.id LIMIT ${MAX_PER_ROUND}`;

interface EndedTask {
  chargeId: string;
  accountId: string;
  taskId: string;
  state: TaskState;
  channel: string | null;
  reason: string | null;
}

/**
 * Resolves the charge of a task that has ended while the charge is still held, after a grace period in which its event could
 * still arrive. The outbox should make this unnecessary, so every repair is counted and logged as a fault.
 */
export class EndedTasksRepair {
  private readonly overdue: OverdueRows<EndedTask>;
  /** Rounds continue after the last one, so that a charge that cannot be resolved does not block the others. */
  private after = '';

  constructor(private readonly parts: SweepParts) {
    this.overdue = new OverdueRows(parts.bus, topics.videoCompleted);
  }

  /** One bounded round; true when more may be waiting. */
  async round(): Promise<boolean> {
    const found = await this.overdue.confirmed(() => this.ended(null, this.after));
    const full = found.length === MAX_PER_ROUND;
    if (found.length > 0) {
      const still = await this.ended(
        found.map(({ chargeId }) => chargeId),
        '',
      );
      await Promise.all(still.map((task) => this.repair(task)));
    }
    this.after = full ? (found.at(-1)?.chargeId ?? '') : '';
    return full;
  }

  private async ended(among: string[] | null, after: string): Promise<EndedTask[]> {
    const { pool, graceMs } = this.parts;
    return (await pool.query<EndedTask>(ENDED, [graceMs, among, after])).rows;
  }

  private async repair(task: EndedTask): Promise<void> {
    const { engine, metrics, log } = this.parts;
    const { chargeId, accountId, taskId, state, channel, reason } = task;
    try {
      const result = await engine.resolve({
        chargeId,
        accountId,
        outcome: state === 'completed' ? 'delivered' : 'failed',
        deliveredUnits: null,
        channel,
        reason: reason ?? 'repaired',
        upstreamStatus: null,
        latencyMs: null,
      });
      metrics.repairs.inc();
      const [settled, released] = [formatAmount(result.settled), formatAmount(result.released)];
      const facts = { chargeId, accountId, taskId, state, settled, released };
      log.error(facts, 'repaired the charge of an ended task that no event had resolved');
    } catch (error) {
      if (!(error instanceof BrokenRule)) throw error;
      log.error({ err: error, chargeId, taskId }, 'the charge of an ended task cannot be resolved');
    }
  }
}
