import type { Task } from '#tasks/task.js';
import { publicStatus } from '#tasks/task-state.js';

/** A task of any type as returned to clients, whether stored or just created. */
export type ViewedTask = Pick<
  Task,
  | 'id'
  | 'kind'
  | 'dialect'
  | 'state'
  | 'requestedModel'
  | 'request'
  | 'seconds'
  | 'heldAmount'
  | 'progress'
  | 'errorCode'
  | 'errorMessage'
  | 'createdAtMs'
  | 'endedAtMs'
  | 'expiresAtMs'
  | 'deletedAtMs'
>;

export const JUST_CREATED = {
  state: 'created',
  progress: 0,
  errorCode: null,
  errorMessage: null,
  endedAtMs: null,
  expiresAtMs: null,
  deletedAtMs: null,
} as const;

const TICKS_PER_NANO = 10n;

export function taskFields(task: ViewedTask) {
  const completed = task.state === 'completed';
  const failed = task.state === 'failed' || task.state === 'refused';
  return {
    id: task.id,
    task_id: task.id,
    model: task.requestedModel,
    status: publicStatus(task.state, task.dialect, task.progress),
    /** 0 to 100. */
    progress: completed ? 100 : task.progress,
    /** Unix seconds, as the next two. */
    created_at: unixSeconds(task.createdAtMs) ?? 0,
    completed_at: completed ? unixSeconds(task.endedAtMs) : null,
    expires_at: completed ? unixSeconds(task.expiresAtMs) : null,
    error: failed ? { code: task.errorCode ?? 'generation_failed', message: task.errorMessage ?? '' } : null,
    usage: { cost_in_usd_ticks: failed ? 0 : Number((task.heldAmount ?? 0n) * TICKS_PER_NANO) },
  };
}

/** The fields that all types share. */
export type TaskFields = ReturnType<typeof taskFields>;

function unixSeconds(ms: number | null): number | null {
  return ms === null ? null : Math.floor(ms / 1000);
}
