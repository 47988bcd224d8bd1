/**
 * The states of a task and the moves allowed between them, as data. Every write is a compare-and-set
 * from a named state, so that of two that race one wins and the other learns it.
 */
export const taskMoves = {
  /** The row exists and its credits may be held, but nothing was sent yet. */
  created: ['submitting', 'failed', 'refused'],
  /** One caller holds the permission to call the upstream. */
  submitting: ['submitted', 'unknown', 'failed'],
  /** The upstream accepted and named its own id. */
  submitted: ['completed', 'failed'],
  /** The upstream may or may not have accepted. */
  unknown: ['submitted', 'failed'],
  completed: [],
  failed: [],
  refused: [],
} as const satisfies Record<string, readonly string[]>;

export type TaskState = keyof typeof taskMoves;

export const taskStates = Object.keys(taskMoves) as TaskState[];

export function isTerminal(state: TaskState): boolean {
  return taskMoves[state].length === 0;
}

export function mayMove(from: TaskState, to: TaskState): boolean {
  return (taskMoves[from] as readonly TaskState[]).includes(to);
}

/** The status words that clients of a create path understand. Google's clients get OpenAI's at /v1. */
export type Dialect = 'openai' | 'xai' | 'google';

/** The state as shown to a task's owner, in OpenAI's words. */
export const publicStates = ['queued', 'in_progress', 'completed', 'failed'] as const;

/** The status word that a client sees, by the path that created the task. */
export function publicStatus(state: TaskState, dialect: Dialect, progress: number): string {
  if (state === 'completed') return dialect === 'xai' ? 'done' : 'completed';
  if (state === 'failed' || state === 'refused') return 'failed';
  if (dialect === 'xai') return 'pending';
  return state === 'submitted' && progress > 0 ? 'in_progress' : 'queued';
}
