import { nullable, record, type Schema, text, UNIX_SECONDS, USAGE, whole } from '../openapi/operation.js';

/** The fields of `TaskView`. */
export const TASK_FIELDS = {
  id: text(),
  task_id: text('The same as `id`.'),
  model: text(),
  status: text('`completed` or `done`, `failed`, or on its way.', {
    enum: ['queued', 'in_progress', 'pending', 'completed', 'done', 'failed'],
  }),
  progress: whole('Percent.', { minimum: 0, maximum: 100 }),
  created_at: UNIX_SECONDS,
  completed_at: nullable(UNIX_SECONDS),
  expires_at: nullable(whole('Unix seconds, when the file goes.')),
  error: nullable(record({ code: text(), message: text() })),
  usage: USAGE,
} as const satisfies Record<string, Schema>;
