import type { Task } from './task.js';

/** A task leased to one worker. Only writes with the lease's token count. */
export interface LeasedTask extends Task {
  leaseToken: string;
  /** By the database's clock, when the task was claimed. */
  pastDeadline: boolean;
  /** The trace of the call that made it. */
  traceparent: string | null;
}
