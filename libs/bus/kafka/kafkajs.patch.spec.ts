import { createRequire } from 'node:module';
import { AssignerProtocol } from 'kafkajs';
import { expect, it, vi } from 'vitest';
import { until } from '../../../test/support/eventually.js';
import { preparedMember } from './kafkajs.patch.js';

interface RunnerOfGroup {
  start(): Promise<void>;
  stop(): Promise<void>;
}

const require = createRequire(import.meta.url);
const Reader = require('kafkajs/src/consumer/runner') as new (options: object) => RunnerOfGroup;
const Group = require('kafkajs/src/consumer/consumerGroup') as new (options: object) => object;
const { createErrorFromCode } = require('kafkajs/src/protocol/error') as {
  createErrorFromCode: (code: number) => Error;
};

const UNKNOWN_MEMBER_ID = 25;
const COORDINATOR_LOADING = 14;
const nothing = () => undefined;
const levels = { debug: nothing, info: nothing, warn: nothing, error: nothing };
const logger = { ...levels, namespace: () => logger } as { namespace: () => object };

/**
 * A group with one member. A forgetful coordinator forgets the member once, and refuses its first attempt to rejoin.
 */
class Coordinator {
  joins = 0;
  beats = 0;
  private forgot: boolean;

  constructor(isForgetful: boolean) {
    this.forgot = !isForgetful;
  }

  async joinGroup() {
    this.joins += 1;
    if (this.joins === 2) throw createErrorFromCode(COORDINATOR_LOADING);
    const memberId = `member-${this.joins}`;
    return { generationId: this.joins, leaderId: 'another', memberId, members: [], groupProtocol: 'any' };
  }

  async syncGroup() {
    const memberAssignment = AssignerProtocol.MemberAssignment.encode({
      version: 0,
      assignment: {},
      userData: Buffer.alloc(0),
    });
    return { memberAssignment };
  }

  async heartbeat({ memberId }: { memberId: string }) {
    if (!this.forgot) {
      this.forgot = true;
      throw createErrorFromCode(UNKNOWN_MEMBER_ID);
    }
    if (memberId === `member-${this.joins}`) this.beats += 1;
  }

  async leaveGroup() {}
}

interface Member {
  coordinator: Coordinator;
  crashes: unknown[];
}

async function whileItBeats(
  coordinator: Coordinator,
  work: (member: Member) => Promise<void>,
): Promise<void> {
  const emitter = { emit: () => undefined };
  const assigner = preparedMember({ prepare: async () => undefined, stay: () => undefined });
  const consumerGroup = new Group({
    logger,
    cluster: {
      connect: async () => undefined,
      refreshMetadata: async () => undefined,
      refreshMetadataIfNecessary: async () => undefined,
      getNodeIds: () => ['1'],
      findGroupCoordinator: async () => coordinator,
      committedOffsets: () => ({}),
    },
    groupId: 'spec',
    topics: [],
    topicConfigurations: {},
    assigners: [assigner({ cluster: {} as never, groupId: 'spec', logger: logger as never })],
    sessionTimeout: 10_000,
    rebalanceTimeout: 10_000,
    maxWaitTimeInMs: 5,
    instrumentationEmitter: emitter,
    retry: { initialRetryTime: 5, maxRetryTime: 10, retries: 8 },
  });
  const crashes: unknown[] = [];
  const runner = new Reader({
    logger,
    consumerGroup,
    instrumentationEmitter: emitter,
    eachBatch: async () => undefined,
    concurrency: 1,
    heartbeatInterval: 1,
    onCrash: (error: unknown) => crashes.push(error),
    retry: { initialRetryTime: 5, maxRetryTime: 10, retries: 8 },
    autoCommit: false,
  });
  await runner.start();
  try {
    await work({ coordinator, crashes });
  } finally {
    await runner.stop();
  }
}

/** Waits for the next heartbeat of a current member. */
async function nextBeat({ coordinator, crashes }: Member): Promise<void> {
  const { beats } = coordinator;
  await until('a heartbeat', async () => coordinator.beats > beats || crashes.length > 0);
  expect(crashes).toEqual([]);
}

it('rejoins if the coordinator forgot it and then refused it', async () => {
  await whileItBeats(new Coordinator(true), nextBeat);
});

it('continues its heartbeats if the clock is set back', async () => {
  const now = Date.now.bind(Date);
  let aheadMs = 3_600_000;
  const clock = vi.spyOn(Date, 'now').mockImplementation(() => now() + aheadMs);
  await whileItBeats(new Coordinator(false), async (member) => {
    await nextBeat(member);
    aheadMs = 0;
    await nextBeat(member);
    await nextBeat(member);
  }).finally(() => clock.mockRestore());
});
