import { Counter, Gauge, type Registry } from '#platform/metrics.js';
import type { TaskQueue } from '#tasks/task-queue.store.js';

/** What the worker counts. */
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
    this.polls = new Counter({
      name: 'tollgate_worker_polls_total',
      help: 'Questions to upstreams about tasks, by answer',
      labelNames: ['outcome'],
      registers,
    });
    this.copies = new Counter({
      name: 'tollgate_worker_copies_total',
      help: 'Attempts to copy a finished file',
      labelNames: ['outcome'],
      registers,
    });
    this.ended = new Counter({
      name: 'tollgate_worker_tasks_ended_total',
      help: 'Tasks ended by this worker',
      labelNames: ['outcome'],
      registers,
    });
    this.swept = new Counter({
      name: 'tollgate_worker_tasks_swept_total',
      help: 'Tasks found stuck, by the state they were stuck in',
      labelNames: ['state'],
      registers,
    });
    this.late = new Counter({
      name: 'tollgate_worker_late_results_total',
      help: 'Results of an upstream for tasks that had ended: the cost is the operator’s',
      registers,
    });
    this.purged = new Counter({
      name: 'tollgate_files_purged_total',
      help: 'Files removed after their life, by folder',
      labelNames: ['folder'],
      registers,
    });
    this.following = new Gauge({
      name: 'tollgate_worker_tasks_following',
      help: 'Tasks being asked about or copied right now',
      registers,
    });
    new Gauge({
      name: 'tollgate_worker_oldest_due_seconds',
      help: 'How long the longest waiting task has been due',
      registers,
      async collect() {
        // Metrics are readable while the database is away.
        this.set(await queue.oldestDueSeconds().catch(() => NaN));
      },
    });
  }
}
