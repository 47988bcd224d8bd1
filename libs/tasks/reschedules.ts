import type { Pool } from 'pg';
import type { LeasedTask } from './leased-task.js';

export interface NextPoll {
  /** Milliseconds from now. */
  inMs: number;
  /** Percent. Never decreases. */
  progress?: number | null;
  copyFailed?: boolean;
}

interface Waiting {
  task: LeasedTask;
  next: NextPoll;
  resolve: (counted: boolean) => void;
  reject: (error: unknown) => void;
}

/** More would only make one statement longer, and the next follows at once. */
const MAX_BATCH = 500;

// A lease has one holder, so two batches never wait for each other's rows.
const RESCHEDULE = {
  name: 'queue_reschedule',
  text: `UPDATE tasks t SET next_poll_at = now() + given.in_ms * interval '1 ms', lease_token = NULL,
      progress = greatest(t.progress, given.progress), copy_attempts = t.copy_attempts + given.copies
    FROM unnest($1::text[], $2::uuid[], $3::float8[], $4::smallint[], $5::smallint[])
      AS given (id, token, in_ms, progress, copies)
    WHERE t.id = given.id AND t.lease_token = given.token AND t.state IN ('submitted', 'unknown')
    RETURNING t.id`,
};

/**
 * Gives tasks back to the queue, many in one statement: while one is in progress the next gathers, so a lone task waits
 * for nobody and thousands of polls a second take a few dozen commits.
 */
export class Reschedules {
  private gathering: Waiting[] = [];
  private writing = false;

  constructor(private readonly pool: Pool) {}

  /** True when the lease was still the task's. @throws the database's error, which concerns the whole batch */
  add(task: LeasedTask, next: NextPoll): Promise<boolean> {
    return new Promise((resolve, reject) => {
      this.gathering.push({ task, next, resolve, reject });
      if (!this.writing) void this.writeAll();
    });
  }

  private async writeAll(): Promise<void> {
    this.writing = true;
    while (this.gathering.length > 0) {
      const batch = this.gathering.splice(0, MAX_BATCH);
      try {
        const written = await this.write(batch);
        for (const { task, resolve } of batch) resolve(written.has(task.id));
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    this.writing = false;
  }

  private async write(batch: readonly Waiting[]): Promise<Set<string>> {
    const values = [
      batch.map(({ task }) => task.id),
      batch.map(({ task }) => task.leaseToken),
      batch.map(({ next }) => next.inMs),
      batch.map(({ next }) => next.progress ?? 0),
      batch.map(({ next }) => (next.copyFailed ? 1 : 0)),
    ];
    const { rows } = await this.pool.query<{ id: string }>({ ...RESCHEDULE, values });
    return new Set(rows.map(({ id }) => id));
  }
}
