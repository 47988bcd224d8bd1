import { type PartitionAssigner, PartitionAssigners } from 'kafkajs';
import { createRequire } from 'node:module';

interface RequestQueue {
  pending: unknown[];
  scheduleCheckPendingRequests(): void;
}

interface Membership {
  /** Before the group is joined again, or left. Never throws. */
  prepare: () => Promise<void>;
  /** It was neither joined nor left: the membership of before may hold. */
  stay: () => void;
}

interface ConsumerGroup {
  assigners: Partial<Membership>[];
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
 * consumer commit what it has handled. A consumer with this assigner prepares first. When a coordinator that is still loading
 * refuses to let it join, kafkajs reads on as the member that it was.
 */
export function preparedMember(membership: Membership): PartitionAssigner {
  prepareMembers();
  return (config) => {
    const assigner = { ...PartitionAssigners.roundRobin(config), ...membership };
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
      try {
        await Reflect.apply(go as () => Promise<void>, this, []);
      } catch (error) {
        for (const { stay } of this.assigners) stay?.();
        throw error;
      }
    };
  }
}
