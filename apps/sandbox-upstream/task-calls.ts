import { VendorRefusal } from './answers.js';
import { type Fault, refuseAsOrdered } from './directives.js';
import { type Exchange, holdUntilClientLeaves, type Vendor } from './vendor.js';
import { endOf, stateAt, type VendorTask, type VendorTasks } from './vendor-tasks.js';

const MAX_KEY_LENGTH = 256;
/** How many polls a fault affects before the task continues normally. */
const SPOILED_POLLS: Partial<Record<Fault, number>> = {
  'unknown-status': 3,
  'poll-5xx': 3,
  'poll-429': 1,
  'another-id': 3,
  'early-end': 2,
};

/**
 * Stores a new task, or finds the one created earlier under the same idempotency key, even if its first answer
 * was withheld. @throws VendorRefusal 409 if the key belongs to a different input, and as the prompt requests
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

/** The accepted task. Undefined if its prompt requests no answer. */
export async function answered<T extends VendorTask>(
  vendor: Vendor,
  { response }: Exchange,
  task: T,
): Promise<T | undefined> {
  if (!task.faults.includes('accept-then-timeout')) return task;
  await holdUntilClientLeaves(vendor, response);
  return undefined;
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

/** Applies the requested fault to the first polls of a task: returns an unknown status, or throws an HTTP error. */
export function spoilPoll<T extends VendorTask>(tasks: VendorTasks<T>, task: T): string | undefined {
  if (isSpoiled(tasks, task, 'unknown-status')) return 'post_processing';
  if (isSpoiled(tasks, task, 'poll-429')) throw new VendorRefusal(429, 'rate_limit_exceeded', 'As ordered.');
  if (!isSpoiled(tasks, task, 'poll-5xx')) return undefined;
  const status = task.spoiledPolls % 2 === 1 ? 500 : 503;
  throw new VendorRefusal(status, 'server_error', 'The status cannot be read now, as ordered.');
}

/** The id that a poll shows: at first that of another task, if requested. */
export function shownId<T extends VendorTask>(tasks: VendorTasks<T>, task: T): string {
  return isSpoiled(tasks, task, 'another-id') ? [...task.id].reverse().join('') : task.id;
}

/** Whether a fault still affects requests about a task. Each request counts. */
export function isSpoiled<T extends VendorTask>(tasks: VendorTasks<T>, task: T, fault: Fault): boolean {
  if (!task.faults.includes(fault) || task.spoiledPolls >= (SPOILED_POLLS[fault] ?? 0)) return false;
  task.spoiledPolls += 1;
  tasks.save(task);
  return true;
}

/** @throws VendorRefusal if the task is not completed, or its file is no longer kept */
export function requireFile({ clock, settings }: Vendor, task: VendorTask, thing: 'video' | 'mesh'): void {
  const nowMs = clock.nowMs();
  if (stateAt(task, nowMs).phase !== 'completed')
    throw new VendorRefusal(400, `${thing}_not_ready`, `The ${thing} is not finished.`);
  if (nowMs > endOf(task) + settings.fileMs)
    throw new VendorRefusal(404, 'file_not_found', 'The file has expired.');
}
