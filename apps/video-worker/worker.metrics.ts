import { Counter, Gauge, type Registry } from '#platform/metrics.js';
import type { TaskQueue } from '#tasks/task-queue.store.js';

const POLLS = {
  name: 'tollgate_worker_polls_total',
  help: 'Polls of tasks at upstreams, by answer',
  labelNames: ['outcome'],
};
const COPIES = {
  name: 'tollgate_worker_copies_total',
  help: 'Attempts to copy a finished file',
  labelNames: ['outcome'],
};
const ENDED = {
  name: 'tollgate_worker_tasks_ended_total',
  help: 'Tasks ended by this worker',
  labelNames: ['outcome'],
};
const SWEPT = {
  name: 'tollgate_worker_tasks_swept_total',
  help: 'Tasks found stuck, by the state they were stuck in',
  labelNames: ['state'],
};
const LATE = {
  name: 'tollgate_worker_late_results_total',
  help: 'Results of an upstream for tasks that had ended: the cost is the operator’s',
};
const PURGED = {
  name: 'tollgate_files_purged_total',
  help: 'Expired files removed, by folder',
  labelNames: ['folder'],
};
const FOLLOWING = {
  name: 'tollgate_worker_tasks_following',
  help: 'Tasks being polled or copied right now',
};

/** The worker's metrics. */
export class WorkerMetrics {
  readonly polls: Counter<'outcome'>;
  readonly copies: Counter<'outcome'>;
  readonly ended: Counter<'outcome'>;
  readonly swept: Counter<'state'>;
  readonly late: Counter<string>;
  readonly purged: Counter<'folder'>;
  readonly following: Gauge<string>;

  constructor(registry: Registry, queue: TaskQueue) {
    const registers = [registry];
    this.polls = new Counter({ ...POLLS, registers });
    this.copies = new Counter({ ...COPIES, registers });
    this.ended = new Counter({ ...ENDED, registers });
    this.swept = new Counter({ ...SWEPT, registers });
    // A counter that first appears with a burst hides that burst from rates.
    for (const state of ['created', 'submitting']) this.swept.inc({ state }, 0);
    this.late = new Counter({ ...LATE, registers });
    this.purged = new Counter({ ...PURGED, registers });
    this.following = new Gauge({ ...FOLLOWING, registers });
    new Gauge({
      name: 'tollgate_worker_oldest_due_seconds',
      help: 'How long the longest waiting task has been due',
      registers,
      async collect() {
        // Metrics stay readable while the database is down.
        this.set(await queue.oldestDueSeconds().catch(() => NaN));
      },
    });
  }
}
