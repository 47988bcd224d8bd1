import type { TaskError } from '#tasks/task-end.js';
import type { Task } from '#tasks/task.js';
import { kindsOfWork } from './task-kinds.js';

export const neverStarted = ({ kind }: Pick<Task, 'kind'>): TaskError => ({
  code: 'generation_failed',
  message: `The ${kindsOfWork[kind].noun} could not be started.`,
});

export const outOfTime = ({ kind }: Pick<Task, 'kind'>): TaskError => ({
  code: 'generation_failed',
  message: `The ${kindsOfWork[kind].noun} was not finished in time.`,
});

/** @param isStores our store did not take it */
export const noFile = ({ kind }: Pick<Task, 'kind'>, isStores: boolean): TaskError => ({
  code: 'generation_failed',
  message: `The finished ${kindsOfWork[kind].noun} could not be ${isStores ? 'stored' : 'fetched from the upstream'}.`,
});
