import { VendorRefusal } from './answers.js';
import { type Fault, refuseAsOrdered } from './directives.js';
import type { Exchange } from './vendor.js';
import type { VendorTask, VendorTasks } from './vendor-tasks.js';

const MAX_KEY_LENGTH = 256;
/** Polls that a fault spoils before the task goes on as if nothing had been. */
const SPOILED_POLLS: Partial<Record<Fault, number>> = {
  'unknown-status': 3,
  'poll-5xx': 3,
  'poll-429': 1,
  'another-id': 3,
  'early-end': 2,
};

/**
 * Keeps a new task, or finds the one that was created under the same idempotency key before, also when its first answer
 * was withheld. @throws VendorRefusal 409 when the key belongs to another input, and as the prompt orders.
 */
export function acceptTask<T extends VendorTask>(tasks: VendorTasks<T>, exchange: Exchange, task: T): T {
  task.idempotencyKey = readIdempotencyKey(exchange);
  const earlier = task.idempotencyKey === null ? undefined : tasks.findByKey(task.idempotencyKey);
  if (earlier) {
    if (earlier.inputHash === task.inputHash) return earlier;
    throw new VendorRefusal(409, 'idempotency_conflict', 'This idempotency key belongs to another request.');
  }
  refuseAsOrdered(task.faults);
  tasks.add(task);
  return task;
}

function readIdempotencyKey({ request }: Exchange): string | null {
  const key = request.headers['idempotency-key'];
  if (typeof key !== 'string' || key === '') return null;
  if (key.length <= MAX_KEY_LENGTH) return key;
  throw new VendorRefusal(
    400,
    'invalid_value',
    `An idempotency key has at most ${MAX_KEY_LENGTH} characters.`,
  );
}

/** Spoils the first polls of a task that ordered it: a strange status word is returned, an HTTP error thrown. */
export function spoilPoll<T extends VendorTask>(tasks: VendorTasks<T>, task: T): string | undefined {
  if (isSpoiled(tasks, task, 'unknown-status')) return 'post_processing';
  if (isSpoiled(tasks, task, 'poll-429')) throw new VendorRefusal(429, 'rate_limit_exceeded', 'As ordered.');
  if (!isSpoiled(tasks, task, 'poll-5xx')) return undefined;
  const status = task.spoiledPolls % 2 === 1 ? 500 : 503;
  throw new VendorRefusal(status, 'server_error', 'The status cannot be read now, as ordered.');
}

/** The id that a poll shows: at first that of another task, where it is ordered. */
export function shownId<T extends VendorTask>(tasks: VendorTasks<T>, task: T): string {
  return isSpoiled(tasks, task, 'another-id') ? [...task.id].reverse().join('') : task.id;
}

/** Whether a fault still spoils what is asked of a task; each question counts. */
export function isSpoiled<T extends VendorTask>(tasks: VendorTasks<T>, task: T, fault: Fault): boolean {
  if (!task.faults.includes(fault) || task.spoiledPolls >= (SPOILED_POLLS[fault] ?? 0)) return false;
  task.spoiledPolls += 1;
  tasks.save(task);
  return true;
}
