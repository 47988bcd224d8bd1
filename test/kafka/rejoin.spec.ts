import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Admin, Kafka, logLevel } from 'kafkajs';
import { createRequire } from 'node:module';
import { setTimeout as pause } from 'node:timers/promises';
import type { Bus } from '#bus/bus.js';
import { KafkaTransport } from '#bus/kafka/kafka.transport.js';
import { newId } from '#platform/ids.js';
import { Registry } from '#platform/metrics.js';
import {
  ask,
  busOn,
  listOfTestTopics,
  silent,
  startProgram,
  testTopics,
  Till,
  tillController,
  until,
} from '../support/bus.js';

const brokers = process.env['KAFKA_BROKERS']?.split(',') ?? [];
const namespace = `t${newId()}.`;
/**
 * Long enough that a busy machine does not cost a member its place: what it had not committed would rightly arrive
 * again.
 */
const SESSION_TIMEOUT_MS = 60_000;
const JOINS = 3;
/** The delay of a slow coordinator: at any moment, some handled messages are not committed yet. */
const COMMIT_MS = 100;
/** How many messages are in flight at a time. */
const SENDERS = 6;

function member(): KafkaTransport {
  return new KafkaTransport({
    brokers,
    clientId: 'rejoin-spec',
    log: silent,
    registry: new Registry(),
    onFatal: (error) => {
      throw error;
    },
    topics: listOfTestTopics,
    namespace,
    sessionTimeoutMs: SESSION_TIMEOUT_MS,
    heartbeatIntervalMs: 100,
  });
}

async function joined() {
  const [till, transport] = [new Till(), member()];
  const program = await startProgram(transport, [tillController(till)], { groups: ['till'] });
  return { till, transport, leave: async () => (await program.close(), transport.close()) };
}

/** Publishes numbers, each once, until stopped. */
class Teller {
  private sent = 0;
  private isStopped = false;
  private readonly senders: Promise<void>[];

  constructor(private readonly bus: Bus) {
    this.senders = Array.from({ length: SENDERS }, (_, index) => this.send(`account ${index}`));
  }

  /** Resolves with all published numbers. */
  async stop(): Promise<number[]> {
    this.isStopped = true;
    await Promise.all(this.senders);
    return Array.from({ length: this.sent }, (_, number) => number);
  }

  private async send(account: string): Promise<void> {
    while (!this.isStopped) await this.bus.publish(testTopics.told, ask(this.sent++, account));
  }
}

type Request = (payload: unknown) => Promise<unknown>;

/** Delays each commit. */
function slowCommits(): void {
  const { prototype } = createRequire(import.meta.url)('kafkajs/src/broker') as {
    prototype: { offsetCommit: Request };
  };
  const commit: unknown = Reflect.get(prototype, 'offsetCommit');
  prototype.offsetCommit = async function (payload) {
    await pause(COMMIT_MS);
    return Reflect.apply(commit as Request, this, [payload]);
  };
}

const NOT_COORDINATOR = 16;
const COORDINATOR_LOADING = 14;

/**
 * Simulates a restarted broker: the next heartbeat learns that the coordinator has moved, and the join after it that
 * the coordinator is still loading. Meanwhile, the member keeps its place. Resolves after both.
 */
async function coordinatorLoads(): Promise<void> {
  const require = createRequire(import.meta.url);
  const { prototype } = require('kafkajs/src/broker') as { prototype: Record<string, Request> };
  const { createErrorFromCode } = require('kafkajs/src/protocol/error') as {
    createErrorFromCode: (code: number) => Error;
  };
  const once = (name: string, code: number) =>
    new Promise<void>((resolve) => {
      const ask = prototype[name] as Request;
      prototype[name] = async () => {
        prototype[name] = ask;
        resolve();
        throw createErrorFromCode(code);
      };
    });
  await Promise.all([once('heartbeat', NOT_COORDINATOR), once('joinGroup', COORDINATOR_LOADING)]);
}

let admin: Admin;

beforeAll(async () => {
  slowCommits();
  admin = new Kafka({ brokers, logLevel: logLevel.NOTHING }).admin();
  await admin.connect();
});
afterAll(async () => {
  const ours = (await admin.listTopics()).filter((name) => name.startsWith(namespace));
  await admin.deleteTopics({ topics: ours });
  await admin.disconnect();
});

it('hands partitions over with everything committed, while messages flow', async () => {
  const transport = member();
  const bus = busOn(transport, { publishTimeoutMs: 60_000 });
  const first = await joined();
  const tills = [first.till];
  const teller = new Teller(bus);
  for (let joins = 0; joins < JOINS; joins += 1) {
    const second = await joined();
    tills.push(second.till);
    await until('it has its share', () => second.till.seen.length > 50);
    await second.leave();
    const before = first.till.seen.length;
    await until('the first goes on', () => first.till.seen.length > before + 50);
  }
  const numbers = await teller.stop();
  const seen = () => tills.flatMap((till) => till.seen.map(({ ask: { number } }) => number));
  await until('all are handled', () => new Set(seen()).size === numbers.length);
  await first.leave();
  const last = await joined();
  await bus.publish(testTopics.told, ask(numbers.length));
  await until('the next is handled', () => last.till.seen.length > 0);
  await last.leave();
  expect(last.till.seen.map(({ ask: { number } }) => number)).toEqual([numbers.length]);
  expect(seen().toSorted((one, other) => one - other)).toEqual(numbers);
  await bus.close();
  await transport.close();
});

it('keeps reading if it could not rejoin but kept its place', async () => {
  const transport = member();
  const bus = busOn(transport, { publishTimeoutMs: 60_000 });
  const only = await joined();
  const teller = new Teller(bus);
  const seen = () => only.till.seen.length;
  await until('it reads', () => seen() > 50);
  await coordinatorLoads();
  const before = seen();
  await until('it goes on', () => seen() > before + 50);
  await until('it is a member', () =>
    only.transport.connection.health().then(
      () => true,
      () => false,
    ),
  );
  const numbers = await teller.stop();
  await until(
    'all are handled',
    () => new Set(only.till.seen.map(({ ask: { number } }) => number)).size === numbers.length,
  );
  await only.leave();
  await bus.close();
  await transport.close();
});
