import type { Mutant } from './mutant.js';

const STORE = 'apps/gateway/protection/idempotency.store.ts';
const KEYS = 'apps/gateway/protection/idempotency.ts';
const TASKS = 'libs/tasks/task.store.ts';
const TASK = 'libs/tasks/task.ts';

const STORE_SPEC = 'apps/gateway/protection/idempotency.store.spec.ts';
const KEYS_SPEC = 'apps/gateway/protection/idempotency.spec.ts';
const TASKS_SPEC = 'libs/tasks/task.store.spec.ts';
const JOURNEY = 'test/journeys/idempotency.spec.ts';

/** Repeats of a request under its Idempotency-Key, beside a gateway that is dead or only late. */
export const repeatMutants: readonly Mutant[] = [
  {
    id: 'answered-twice',
    fault: 'a second answer replaces the first under an Idempotency-Key',
    file: STORE,
    text: "answer_file = $6\n    WHERE charge_id = $1 AND state = 'running'`",
    instead: 'answer_file = $6\n    WHERE charge_id = $1`',
    spec: STORE_SPEC,
    test: 'stores its answer, the first one',
  },
  {
    id: 'answered-key-freed',
    fault: 'a key whose request was answered and charged is freed for a repeat',
    file: STORE,
    text: "`DELETE FROM idempotency_keys WHERE charge_id = $1 AND state = 'running'`",
    instead: '`DELETE FROM idempotency_keys WHERE charge_id = $1`',
    spec: STORE_SPEC,
    test: 'is freed if it failed, but not once it was answered',
  },
  {
    id: 'running-seen-abandoned',
    fault: 'a repeat takes over a request whose lease was renewed',
    file: STORE,
    text: "state = 'running' AND lease_until <= now() FOR UPDATE",
    instead: "state = 'running' FOR UPDATE",
    spec: STORE_SPEC,
    test: 'is abandoned if nobody renews it',
  },
  {
    id: 'abandoned-unlocked',
    fault: 'a repeat decides about an abandoned request without locking it',
    file: STORE,
    text: 'lease_until <= now() FOR UPDATE',
    instead: 'lease_until <= now()',
    spec: STORE_SPEC,
    test: 'holds its row until that is saved',
  },
  {
    id: 'lease-unlocked',
    fault: 'a request starts with another model without locking its lease',
    file: STORE,
    text: 'lease_until > statement_timestamp() FOR KEY SHARE',
    instead: 'lease_until > statement_timestamp()',
    spec: STORE_SPEC,
    test: 'holds its row until that is saved',
  },
  {
    id: 'lease-unread',
    fault: 'a request starts with another model after a repeat has started over',
    file: KEYS,
    text: 'if (hasHeld && (await this.parts.store.lockHeld(client, requestId))) return;',
    instead: 'if (hasHeld) return;',
    spec: KEYS_SPEC,
    test: 'does not if a repeat has started over',
  },
  {
    id: 'lease-resumed',
    fault: 'a request starts with another model with a lease that had ended and was renewed',
    file: KEYS,
    text: 'const hasHeld = performance.now() < claim.leaseEndMs;',
    instead: 'const hasHeld = claim.leaseEndMs > 0;',
    spec: KEYS_SPEC,
    test: 'does not with a lease that was renewed after its end',
  },
  {
    id: 'lost-row-answered',
    fault: 'a request that lost its lease answers with the task that a repeat may have seen',
    file: KEYS,
    text: 'claim.isLost = true;',
    instead: '',
    spec: KEYS_SPEC,
    test: 'does not if a repeat may have seen it abandoned',
  },
  {
    id: 'paid-image-made-again',
    fault: 'a repeated image request starts over although a dead gateway may have had the image made',
    file: KEYS,
    text: 'if (!task) throw unknownOutcome();',
    instead: 'if (!task) return null;',
    spec: JOURNEY,
    test: 'answers with an error for images, and never calls the upstream again',
  },
  {
    id: 'late-failure-starts-over',
    fault: 'a repeat starts over beside one that was answered with the task before it failed',
    file: TASK,
    text: 'if (endedAtMs === null || endedAtMs > byMs) return false;',
    instead: 'if (endedAtMs === null) return false;',
    spec: JOURNEY,
    test: 'answers with the task if that failed once the gateway was dead',
  },
  {
    id: 'accepted-task-starts-over',
    fault: 'a repeat starts over although an upstream may have accepted the task',
    file: TASK,
    text: ' && pollAttempts === 0)',
    instead: ')',
    spec: JOURNEY,
    test: 'answers with the task if a worker ended it',
  },
  {
    id: 'task-of-first-model',
    fault: 'a repeat is answered with the task of the first model, not of the last',
    file: TASKS,
    text: 't.charge_id) DESC LIMIT 1`',
    instead: 't.charge_id) LIMIT 1`',
    spec: TASKS_SPEC,
    test: 'are found by the last charge of their request',
  },
  {
    id: 'task-before-its-requirement',
    fault: 'another model’s task is saved although its request must not start one',
    file: TASKS,
    text: 'await requirement?.(client);\n      await this.insert(client, task);',
    instead: 'await this.insert(this.pool, task);\n      await requirement?.(client);',
    spec: TASKS_SPEC,
    test: 'are not saved if their requirement fails',
  },
];
