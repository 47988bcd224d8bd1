import { type PartitionAssigner, PartitionAssigners } from 'kafkajs';
import { createRequire } from 'node:module';

interface RequestQueue {
  pending: unknown[];
  scheduleCheckPendingRequests(): void;
}

interface Membership {
  /** Called before the group is rejoined or left. Never throws. */
  prepare: () => Promise<void>;
  /** Called if it was neither joined nor left: the earlier membership may still hold. */
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
 * kafkajs 2.2.4 runs a timer for every connection even when no request is pending: two thousand calls a second in an idle
 * program. Here it runs only while something is pending.
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
 * kafkajs 2.2.4 rejoins or leaves its group without notice, but a consumer can commit what it has handled only under its
 * current membership. A consumer with this assigner can prepare first. If a coordinator that is still loading refuses the
 * join, kafkajs keeps reading under its earlier membership.
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
