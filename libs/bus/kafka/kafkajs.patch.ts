import { type PartitionAssigner, PartitionAssigners } from 'kafkajs';
import { createRequire } from 'node:module';

interface RequestQueue {
  pending: unknown[];
  scheduleCheckPendingRequests(): void;
}

interface PreparedAssigner {
  prepare?: () => Promise<void>;
}

interface ConsumerGroup {
  assigners: PreparedAssigner[];
  joinAndSync(): Promise<void>;
  leave(): Promise<void>;
}

const require = createRequire(import.meta.url);
let patched = false;
let prepares = false;

/**
 * kafkajs 2.2.4 keeps a timer turning for every connection even when no request waits: two thousand a second on an idle
 * program. A check is only of use while something is pending.
 */
export function quietenRequestQueue(): void {
  if (patched) return;
  patched = true;
  const { prototype } = require('kafkajs/src/network/requestQueue') as { prototype: RequestQueue };
  const schedule: unknown = Reflect.get(prototype, 'scheduleCheckPendingRequests');
  prototype.scheduleCheckPendingRequests = function (this: RequestQueue) {
    if (this.pending.length > 0) Reflect.apply(schedule as () => void, this, []);
  };
}

/**
 * kafkajs 2.2.4 joins its group again, or leaves it, without a word before, while only the membership of now lets a
 * consumer commit what it has handled. A consumer with this assigner prepares first; what prepares never throws.
 */
export function preparedMember(prepare: () => Promise<void>): PartitionAssigner {
  prepareMembers();
  return (config) => {
    const assigner = { ...PartitionAssigners.roundRobin(config), prepare };
    return assigner;
  };
}

function prepareMembers(): void {
  if (prepares) return;
  prepares = true;
  const { prototype } = require('kafkajs/src/consumer/consumerGroup') as { prototype: ConsumerGroup };
  for (const step of ['joinAndSync', 'leave'] as const) {
    const go: unknown = Reflect.get(prototype, step);
    prototype[step] = async function (this: ConsumerGroup) {
      for (const { prepare } of this.assigners) await prepare?.();
      await Reflect.apply(go as () => Promise<void>, this, []);
    };
  }
}
