import { paceOf, ProgramReporter } from '#bus/program-reporter.js';
import type { ChannelHealth } from '#upstream/health/channel-health.js';
import type { VideoWorkerModuleOptions } from './video-worker.options.js';

const POLLS = 'tollgate_worker_polls_total';
const COPIES = 'tollgate_worker_copies_total';
const ENDED = 'tollgate_worker_tasks_ended_total';
const SWEPT = 'tollgate_worker_tasks_swept_total';
const FOLLOWING = 'tollgate_worker_tasks_following';
const OLDEST_DUE = 'tollgate_worker_oldest_due_seconds';

/** Reports the state of a worker to the status page. */
export function workerReporter(options: VideoWorkerModuleOptions, health: ChannelHealth): ProgramReporter {
  return new ProgramReporter(options, {
    program: 'worker',
    groups: [],
    intervalMs: options.config.reportMs,
    metrics: [POLLS, COPIES, ENDED, SWEPT, FOLLOWING, OLDEST_DUE],
    measure: (window) => ({
      /** Polls of tasks. */
      polls: paceOf(window, { counter: POLLS, label: 'outcome', histogram: null }),
      /** Tasks being polled or copied. */
      following: window.value(FOLLOWING),
      /** How long the most overdue task has been due. Null if unknown. */
      oldestDueSeconds: knownOrNull(window.value(OLDEST_DUE)),
      /** Tasks ended in the last minute, by outcome. */
      ended: Object.fromEntries(window.increaseBy(ENDED, 'outcome')),
      copies: Object.fromEntries(window.increaseBy(COPIES, 'outcome')),
      /** Tasks found stuck since the start; should stay 0. */
      swept: window.value(SWEPT),
      /** The health of channels, as its polls see it. */
      channels: health.vitalsOfAll(),
    }),
  });
}

function knownOrNull(seconds: number): number | null {
  return Number.isFinite(seconds) ? seconds : null;
}
