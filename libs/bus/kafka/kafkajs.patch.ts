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
  /** null if the coordinator does not know it as a member. */
  memberId: string | null;
  /** When it last sent a heartbeat, by the machine's clock. */
  lastRequest: number;
  joinAndSync(): Promise<void>;
  leave(): Promise<void>;
  heartbeat(options: object): Promise<void>;
}

/** Kafka's error code for a member that the coordinator does not know. */
const UNKNOWN_MEMBER_ID = 25;

const require = createRequire(import.meta.url);
const { createErrorFromCode } = require('kafkajs/src/protocol/error') as {
  createErrorFromCode: (code: number) => Error;
};
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
 * join, kafkajs keeps reading under its earlier membership. If the coordinator had forgotten it by then, kafkajs would read
 * on as no member, without heartbeats, for good; here its next heartbeat has it join again.
 *
 * kafkajs also compares times of the machine's clock. If that was set back, it would send no heartbeat until the clock has
 * caught up.
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
  const changing = new WeakSet<ConsumerGroup>();
  for (const step of ['joinAndSync', 'leave'] as const) {
    const go: unknown = Reflect.get(prototype, step);
    prototype[step] = async function (this: ConsumerGroup) {
      changing.add(this);
      try {
        for (const { prepare } of this.assigners) await prepare?.();
        await Reflect.apply(go as () => Promise<void>, this, []);
      } catch (error) {
        for (const { stay } of this.assigners) stay?.();
        throw error;
      } finally {
        changing.delete(this);
      }
    };
  }
  const beat: unknown = Reflect.get(prototype, 'heartbeat');
  prototype.heartbeat = async function (this: ConsumerGroup, options: object) {
    if (this.memberId === null && !changing.has(this)) throw createErrorFromCode(UNKNOWN_MEMBER_ID);
    if (this.lastRequest > Date.now()) this.lastRequest = 0;
    await Reflect.apply(beat as (given: object) => Promise<void>, this, [options]);
  };
}
