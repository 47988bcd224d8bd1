import { Gauge, Metrics, type Registry } from '#platform/metrics.js';
import type { TaskQueue } from '#tasks/task-queue.store.js';

/** The worker's metrics. */
export class WorkerMetrics extends Metrics {
  readonly polls = this.counter('tollgate_worker_polls_total', 'Polls of tasks at upstreams, by answer', [
    'outcome',
  ]);
  readonly copies = this.counter('tollgate_worker_copies_total', 'Attempts to copy a finished file', [
    'outcome',
  ]);
  readonly ended = this.counter('tollgate_worker_tasks_ended_total', 'Tasks ended by this worker', [
    'outcome',
  ]);
  readonly swept = this.counter(
    'tollgate_worker_tasks_swept_total',
    'Tasks found stuck, by the state they were stuck in',
    ['state'],
  );
  readonly late = this.counter(
    'tollgate_worker_late_results_total',
    'Results of an upstream for tasks that had failed: the cost is the operator’s',
  );
  readonly purged = this.counter('tollgate_files_purged_total', 'Expired files removed, by folder', [
    'folder',
  ]);
  readonly following = this.gauge(
    'tollgate_worker_tasks_following',
    'Tasks being polled or copied right now',
  );

  constructor(registry: Registry, queue: TaskQueue) {
    super(registry);
    // A counter that first appears with a burst hides that burst from rates.
    for (const state of ['created', 'submitting'] as const) this.swept.inc({ state }, 0);
    new Gauge({
      name: 'tollgate_worker_oldest_due_seconds',
      help: 'How long the longest waiting task has been due',
      registers: [registry],
      async collect() {
        // Metrics stay readable while the database is down.
        this.set(await queue.oldestDueSeconds().catch(() => NaN));
      },
    });
  }
}
