import { afterAll, describe, expect, it } from 'vitest';
import { Kafka, logLevel } from 'kafkajs';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BusTimeout } from '#bus/bus.errors.js';
import type { KafkaOptions } from '#bus/kafka/kafka.connection.js';
import { KafkaTransport } from '#bus/kafka/kafka.transport.js';
import { topic } from '#bus/topic.js';
import { newId } from '#platform/ids.js';
import { Registry } from '#platform/metrics.js';
import { busContract } from '../support/bus-contract.js';
import { startKeeper } from '../support/bus-program.js';
import {
  Ask,
  ask,
  busOn,
  doorController,
  gate,
  listOfTestTopics,
  silent,
  startProgram,
  testTopics,
  Till,
  tillController,
  until,
} from '../support/bus.js';

const brokers = process.env['KAFKA_BROKERS']?.split(',') ?? [];

/** Needs `npm run build`, because a program that can be killed runs as a separate process. */
const KEEPER = join(import.meta.dirname, '../../dist/test/support/bus-program.js');

/** A connection with its own namespace, so that tests do not share topics. */
function createTransport(options: Partial<KafkaOptions> = {}): KafkaTransport {
  return new KafkaTransport({
    brokers,
    clientId: 'bus-spec',
    log: silent,
    registry: new Registry(),
    onFatal: (error) => {
      throw error;
    },
    topics: listOfTestTopics,
    namespace: `t${newId()}.`,
    backoff: { initialMs: 5, maxMs: 50 },
    ...options,
  });
}

async function lagOfTold(registry: Registry): Promise<number> {
  const ofTold = /bus_consumer_lag\{topic="\S*test.told",group="till",partition="\d"\} (\d+)/g;
  const lines = (await registry.metrics()).matchAll(ofTold);
  return [...lines].reduce((sum, [, messages]) => sum + Number(messages), 0);
}

describe('KafkaTransport', () => {
  const admin = new Kafka({ brokers, logLevel: logLevel.NOTHING }).admin();

  afterAll(async () => {
    await admin.connect();
    const ours = (await admin.listTopics()).filter((name) => /^t[0-9a-z]{26}\.test/.test(name));
    if (ours.length > 0) await admin.deleteTopics({ topics: ours });
    await admin.disconnect();
  });

  it('connects to the brokers in KAFKA_BROKERS', () => {
    expect(brokers).not.toEqual([]);
  });

  busContract(() => createTransport());

  it('creates its topics even if several programs start at once', async () => {
    const namespace = `t${newId()}.`;
    const programs = Array.from({ length: 6 }, () => createTransport({ namespace }));
    await Promise.all(programs.map(({ connection }) => connection.connect()));
    for (const program of programs) await program.close();
  });

  it('returns answers to the process that asked, and shares the work between programs', async () => {
    const namespace = `t${newId()}.`;
    const tills = [new Till(), new Till()];
    const askers = [createTransport({ namespace }), createTransport({ namespace })];
    const workers = [createTransport({ namespace }), createTransport({ namespace })];
    const programs = await Promise.all(
      workers.map((worker, index) =>
        startProgram(worker, [tillController(tills[index] as Till)], { groups: ['till'] }),
      ),
    );
    const buses = askers.map((asker) => busOn(asker));
    await Promise.all(buses.map((bus) => bus.connect()));
    const answers = await Promise.all(
      buses.flatMap((bus, which) =>
        Array.from({ length: 50 }, async (_, number) => {
          const question = ask(which * 1000 + number, `a${number}`);
          return (await bus.request(testTopics.asked, question)).id === question.id;
        }),
      ),
    );
    expect(answers.every(Boolean)).toBe(true);
    for (const till of tills) expect(till.seen.length).toBeGreaterThan(0);
    for (const each of [...programs, ...buses, ...askers, ...workers]) await each.close();
  });

  it('delivers a broadcast to every instance', async () => {
    const namespace = `t${newId()}.`;
    const tills = [new Till(), new Till()];
    const doors = tills.map(() => createTransport({ namespace }));
    const programs = await Promise.all(
      doors.map((door, index) =>
        startProgram(door, [doorController(tills[index] as Till)], { groups: ['door'] }),
      ),
    );
    const speaker = createTransport({ namespace });
    const bus = busOn(speaker);
    await bus.publish(testTopics.changed, ask(1));
    await until('both heard it', () => tills.every((till) => till.seen.length === 1));
    for (const each of [...programs, ...doors, bus, speaker]) await each.close();
  });

  it('redelivers what was not committed, and everything when replayed from the start', async () => {
    const namespace = `t${newId()}.`;
    const asker = createTransport({ namespace });
    const bus = busOn(asker);
    const before = new Till();
    const first = createTransport({ namespace });
    const firstProgram = await startProgram(first, [tillController(before)], { groups: ['till'] });
    await bus.connect();
    for (let number = 0; number < 5; number += 1) await bus.request(testTopics.asked, ask(number));
    await firstProgram.close();
    await first.close();
    await admin.connect();
    await admin.resetOffsets({
      groupId: `${namespace}till`,
      topic: `${namespace}test.asked`,
      earliest: true,
    });

    const after = new Till();
    const second = createTransport({ namespace });
    const secondProgram = await startProgram(second, [tillController(after)], { groups: ['till'] });
    await until('all came again', () => after.seen.length === 5);
    expect(after.seen).toEqual(before.seen);
    await secondProgram.close();
    for (const each of [bus, asker, second]) await each.close();
  });

  it('leaves with everything committed that it handled', async () => {
    const namespace = `t${newId()}.`;
    const first = createTransport({ namespace });
    const bus = busOn(first);
    const program = await startProgram(first, [tillController(new Till())], { groups: ['till'] });
    await bus.connect();
    await Promise.all(Array.from({ length: 20 }, (_, number) => bus.request(testTopics.asked, ask(number))));
    await program.close();

    const till = new Till();
    const second = createTransport({ namespace });
    const next = await startProgram(second, [tillController(till)], { groups: ['till'] });
    await bus.request(testTopics.asked, ask(99));
    expect(till.numbersOf('a1')).toEqual([99]);
    for (const each of [next, bus, first, second]) await each.close();
  });

  it('answers a request again if the program was killed between commit and reply', async () => {
    const namespace = `t${newId()}.`;
    const folder = mkdtempSync(join(tmpdir(), 'bus-spec-'));
    const kept = { brokers, namespace, file: join(folder, 'answers') };
    const child = spawn(process.execPath, [KEEPER, JSON.stringify({ ...kept, killedBy: 13 })], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const exited = once(child, 'exit');
    await once(child.stdout, 'data');
    const asker = createTransport({ namespace });
    const bus = busOn(asker);
    await bus.connect();
    await bus.request(testTopics.asked, ask(1));
    const asked = await bus.endOffsets(testTopics.asked);
    await until('the first is committed', () => bus.hasConsumedPast('till', asked));
    const question = ask(13);
    await expect(bus.request(testTopics.asked, question, { timeoutMs: 1_000 })).rejects.toThrow(BusTimeout);
    expect(await exited).toEqual([null, 'SIGKILL']);

    const survivor = await startKeeper(kept);
    const answer = await bus.request(testTopics.asked, question);
    expect(answer.doubled).toBe(26);
    await until('it came twice', () => survivor.till.seen.length === 2);
    expect(survivor.till.numbersOf('a1')).toEqual([13, 13]);
    expect(readFileSync(kept.file, 'utf8').trim().split('\n')).toHaveLength(2);
    for (const each of [survivor, bus, asker]) await each.close();
    rmSync(folder, { recursive: true });
  });

  it('retries messages that failed when its program stopped', async () => {
    const namespace = `t${newId()}.`;
    const failing = new Till();
    failing.work = async () => {
      throw new Error('not kept');
    };
    const first = createTransport({ namespace });
    const bus = busOn(first);
    const program = await startProgram(first, [tillController(failing)], {
      groups: ['till'],
      isTransient: () => true,
    });
    await bus.publish(testTopics.told, ask(7));
    await until('it failed twice', () => failing.seen.length >= 2);
    await program.close();

    const till = new Till();
    const second = createTransport({ namespace });
    const again = await startProgram(second, [tillController(till)], { groups: ['till'] });
    await until('it is handled', () => till.seen.length === 1);
    for (const each of [again, bus, first, second]) await each.close();
  });

  it('continues with other partitions while one backs off', async () => {
    const transport = createTransport({ backoff: { initialMs: 60_000, maxMs: 60_000 } });
    const till = new Till();
    till.work = async ({ account }) => {
      if (account === 'stuck') throw new Error('not yet');
    };
    const program = await startProgram(transport, [tillController(till)], {
      groups: ['till'],
      isTransient: () => true,
    });
    const bus = busOn(transport);
    await bus.publish(testTopics.told, ask(1, 'stuck'));
    await until('it was tried', () => till.seen.length === 1);
    for (let number = 0; number < 30; number += 1)
      await bus.publish(testTopics.told, ask(number, `a${number}`));
    await until('others are handled', () => till.seen.length > 10);
    for (const each of [program, bus, transport]) await each.close();
  });

  it('writes dead letters to a topic with their origin', async () => {
    const transport = createTransport();
    const till = new Till();
    const program = await startProgram(transport, [tillController(till)], {
      groups: ['till'],
      onDeadLetter: async (letter) => void till.letters.push(letter),
    });
    const bus = busOn(transport);
    await bus.publishText('test.told', 'a1', 'not json');
    await until('the letter is kept', () => till.letters.length === 1);
    const { kafka, namespace } = transport.connection;
    const consumer = kafka.consumer({
      groupId: `${namespace}reader`,
      maxWaitTimeInMs: 100,
    });
    await consumer.connect();
    await consumer.subscribe({ topics: [`${namespace}test.told.dead`], fromBeginning: true });
    const letters: Record<string, string>[] = [];
    await consumer.run({
      eachMessage: async ({ message }) => {
        const headers = Object.entries(message.headers ?? {}).map(([name, value]) => [name, String(value)]);
        letters.push({ value: String(message.value), ...Object.fromEntries(headers) });
      },
    });
    await until('the letter is read', () => letters.length === 1);
    expect(letters[0]).toMatchObject({
      value: 'not json',
      'origin-topic': 'test.told',
      'origin-offset': '0',
      'origin-group': 'till',
      reason: expect.stringContaining('not JSON'),
    });
    await consumer.disconnect();
    for (const each of [program, bus, transport]) await each.close();
  });

  it('treats a message of another version as unreadable', async () => {
    const namespace = `t${newId()}.`;
    const newer = topic({
      name: 'test.told',
      about: 'A test',
      from: ['tests'],
      version: 2,
      kind: 'event',
      payload: Ask,
      partitions: 3,
      groups: [],
      key: (each) => each.account,
      id: (each) => each.id,
    });
    const till = new Till();
    const consumer = createTransport({ namespace });
    const program = await startProgram(consumer, [tillController(till)], {
      groups: ['till'],
      onDeadLetter: async (letter) => void till.letters.push(letter),
    });
    const producer = createTransport({ namespace, topics: [newer] });
    const bus = busOn(producer);
    await bus.publish(newer, ask(1));
    await until('the letter is kept', () => till.letters.length === 1);
    expect(till.letters[0]?.reason).toContain('version 2, but 1 is understood');
    for (const each of [program, bus, producer, consumer]) await each.close();
  });

  it('refuses a topic with a different number of partitions', async () => {
    const namespace = `t${newId()}.`;
    const transport = createTransport({ namespace });
    await transport.connection.connect();
    const other = createTransport({ namespace, topics: [{ ...testTopics.told, partitions: 5 }] });
    await expect(other.connection.connect()).rejects.toThrow(
      /test\.told has 3 partitions on the broker but 5 here/,
    );
    for (const each of [transport, other]) await each.close();
  });

  it('is healthy while its consumers are in their groups, and reports their lag', async () => {
    const registry = new Registry();
    const transport = createTransport({ registry });
    const till = new Till();
    const program = await startProgram(transport, [tillController(till)], { groups: ['till'] });
    const bus = busOn(transport);
    await bus.health();
    const blocked = gate();
    till.work = async ({ number }) => (number === 0 ? undefined : blocked.opened);
    await bus.request(testTopics.asked, ask(0));
    const lag = /bus_consumer_lag\{topic="\S*test.asked",group="till",partition="\d"\} 0/;
    await until('there is a lag', async () => lag.test(await registry.metrics()));
    blocked.open();
    await program.close();
    for (const each of [bus, transport]) await each.close();
  });

  it('counts the messages that wait while their handler fails', async () => {
    const registry = new Registry();
    const transport = createTransport({ registry });
    const till = new Till();
    let isBroken = true;
    till.work = async () => {
      if (isBroken) throw new Error('not yet');
    };
    const program = await startProgram(transport, [tillController(till)], {
      groups: ['till'],
      isTransient: () => true,
    });
    const bus = busOn(transport);
    for (let number = 0; number < 3; number += 1) await bus.publish(testTopics.told, ask(number, 'stuck'));
    await until('all three wait', async () => (await lagOfTold(registry)) === 3);
    isBroken = false;
    await until('none waits', async () => (await lagOfTold(registry)) === 0);
    for (const each of [program, bus, transport]) await each.close();
  });

  it('counts the messages that arrive while a handler hangs', async () => {
    const registry = new Registry();
    const transport = createTransport({ registry, heartbeatIntervalMs: 50 });
    const till = new Till();
    const begun = gate();
    const blocked = gate();
    till.work = () => {
      begun.open();
      return blocked.opened;
    };
    const program = await startProgram(transport, [tillController(till)], { groups: ['till'] });
    const bus = busOn(transport);
    await bus.publish(testTopics.told, ask(0, 'stuck'));
    await begun.opened;
    for (let number = 1; number < 3; number += 1) await bus.publish(testTopics.told, ask(number, 'stuck'));
    await until('all three wait', async () => (await lagOfTold(registry)) === 3);
    blocked.open();
    await until('none waits', async () => (await lagOfTold(registry)) === 0);
    for (const each of [program, bus, transport]) await each.close();
  });

  it('fails to connect within seconds if there is no broker', async () => {
    const transport = createTransport({ brokers: ['127.0.0.1:1'] });
    const bus = busOn(transport);
    await expect(bus.request(testTopics.asked, ask(1), { timeoutMs: 200 })).rejects.toThrow(
      /no answer on test.asked/,
    );
    await expect(bus.connect()).rejects.toThrow('the broker is out of reach');
    await transport.close();
  });
});
