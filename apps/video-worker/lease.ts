import type { LeasedTask } from '#tasks/leased-task.js';
import type { TaskQueue } from '#tasks/task-queue.store.js';

/** Renewals per lease duration: two may fail before the lease is lost. */
const RENEWALS_PER_LEASE = 3;

/** Keeps a task's lease while it is being worked on, and stops the work when it is lost. */
export class Lease {
  private readonly lost = new AbortController();
  private readonly timer: NodeJS.Timeout;
  /** Aborted when another worker gets the lease or the program stops. */
  readonly signal: AbortSignal;

  constructor(
    private readonly queue: TaskQueue,
    private readonly task: LeasedTask,
    private readonly options: { leaseMs: number; stopping: AbortSignal },
  ) {
    this.signal = AbortSignal.any([this.lost.signal, options.stopping]);
    this.timer = setInterval(() => void this.renew(), options.leaseMs / RENEWALS_PER_LEASE);
  }

  get isLost(): boolean {
    return this.lost.signal.aborted;
  }

  end(): void {
    clearInterval(this.timer);
  }

  private async renew(): Promise<void> {
    // A short loss of the database decides nothing: the next renewal or the last write does.
    const kept = await this.queue.renewLease(this.task, this.options.leaseMs).catch(() => true);
    if (!kept) this.lost.abort(new Error('the lease is lost'));
  }
}
