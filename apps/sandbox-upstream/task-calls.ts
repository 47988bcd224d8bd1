import { VendorRefusal } from './answers.js';
import { refuseAsOrdered } from './directives.js';
import type { Exchange } from './vendor.js';
import type { VendorTask, VendorTasks } from './vendor-tasks.js';

const MAX_KEY_LENGTH = 256;
/** Polls that `unknown-status` and `poll-5xx` spoil before the task goes on as if nothing had been. */
const SPOILED_POLLS = 3;

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
  const isStrange = task.faults.includes('unknown-status');
  const isBroken = task.faults.includes('poll-5xx');
  if ((!isStrange && !isBroken) || task.spoiledPolls >= SPOILED_POLLS) return undefined;
  task.spoiledPolls += 1;
  tasks.save(task);
  if (isStrange) return 'post_processing';
  const status = task.spoiledPolls % 2 === 1 ? 500 : 503;
  throw new VendorRefusal(status, 'server_error', 'The status cannot be read now, as ordered.');
}
