import { nullable, type Schema, UNIX_SECONDS, USAGE, schema } from '../openapi/operation.js';

/** The fields of `TaskView`. */
export const TASK_FIELDS = {
  id: schema.text(),
  task_id: schema.text('The same as `id`.'),
  model: schema.text(),
  status: schema.text('`completed` or `done`, `failed`, or a state in progress.', {
    enum: ['queued', 'in_progress', 'pending', 'completed', 'done', 'failed'],
  }),
  progress: schema.integer('Percent.', { minimum: 0, maximum: 100 }),
  created_at: UNIX_SECONDS,
  completed_at: nullable(UNIX_SECONDS),
  expires_at: nullable(schema.integer('When the file expires, as Unix time in seconds.')),
  error: nullable(schema.object({ code: schema.text(), message: schema.text() })),
  usage: USAGE,
} as const satisfies Record<string, Schema>;
