import {
  nullable,
  objectSchema,
  type Schema,
  textSchema,
  UNIX_SECONDS,
  USAGE,
  integerSchema,
} from '../openapi/operation.js';

/** The fields of `TaskView`. */
export const TASK_FIELDS = {
  id: textSchema(),
  task_id: textSchema('The same as `id`.'),
  model: textSchema(),
  status: textSchema('`completed` or `done`, `failed`, or a state in progress.', {
    enum: ['queued', 'in_progress', 'pending', 'completed', 'done', 'failed'],
  }),
  progress: integerSchema('Percent.', { minimum: 0, maximum: 100 }),
  created_at: UNIX_SECONDS,
  completed_at: nullable(UNIX_SECONDS),
  expires_at: nullable(integerSchema('When the file expires, as Unix time in seconds.')),
  error: nullable(objectSchema({ code: textSchema(), message: textSchema() })),
  usage: USAGE,
} as const satisfies Record<string, Schema>;
