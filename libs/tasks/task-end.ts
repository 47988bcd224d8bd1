import { outboxRow, type Producer } from '#bus/outbox.js';
import type { TaskEnded } from '#bus/payloads.js';
import { topics } from '#bus/topics.js';
import type { ErrorCode } from '#platform/errors.js';
import type { Task } from './task.js';

export type EndingTask = Pick<Task, 'id' | 'kind' | 'chargeId' | 'accountId' | 'channelId' | 'createdAtMs'>;

/** Why a task failed, as shown to the client. */
export interface TaskError {
  code: ErrorCode;
  message: string;
  /** The upstream's answer, if it decided the end. */
  upstreamStatus?: number | null;
}

export type OutboxValues = [producer: Producer, topic: string, key: string, payload: string];

/**
 * The announcement that a task ended, by which billing settles or releases its charge. The same statement inserts it and ends
 * the task, so that neither exists without the other.
 */
export function taskEndedRow(
  producer: 'gateway' | 'worker',
  task: EndingTask,
  end: { error: TaskError | null; endedAtMs: number },
): OutboxValues {
  const payload: TaskEnded = {
    taskId: task.id,
    chargeId: task.chargeId,
    accountId: task.accountId,
    kind: task.kind,
    outcome: end.error === null ? 'completed' : 'failed',
    channel: task.channelId,
    reason: end.error && { code: end.error.code, message: end.error.message },
    ...(end.error?.upstreamStatus == null ? {} : { upstreamStatus: end.error.upstreamStatus }),
    latencyMs: Math.max(0, Math.round(end.endedAtMs - task.createdAtMs)),
    endedAt: new Date(end.endedAtMs).toISOString(),
  };
  const row = outboxRow(topics.videoCompleted, payload);
  return [producer, row.topic, row.key, row.payload];
}

/**
 * The tail of a statement whose first part is named `moved`: announces what it moved, if it moved anything. Its row
 * count is the answer to "did I win?". `first` is the number of the first of the four outbox parameters.
 */
export function announceMoved(first: number): string {
  const [producer, topic, key, payload] = [first, first + 1, first + 2, first + 3];
  return `INSERT INTO outbox (producer, topic, key, payload)
    SELECT $${producer}, $${topic}, $${key}, $${payload}::jsonb FROM moved`;
}
