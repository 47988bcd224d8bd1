import { afterEach, beforeEach, expect, it } from 'vitest';
import type { INestMicroservice } from '@nestjs/common';
import type { Bus } from '#bus/bus.js';
import { BusRejected, BusTimeout } from '#bus/bus.errors.js';
import type { ConsumerOptions } from '#bus/delivery.js';
import type { BusTransport } from '#bus/transport.js';
import {
  Answer,
  ask,
  busOn,
  doorController,
  gate,
  Passing,
  startProgram,
  testTopics,
  Till,
  tillController,
  until,
} from './bus.js';

/** What both transports promise. Each runs these same tests. */
export function busContract(createTransport: () => BusTransport): void {
  let transport: BusTransport;
  let till: Till;
  let bus: Bus;
  let program: INestMicroservice | undefined;

  beforeEach(() => {
    transport = createTransport();
    till = new Till();
    bus = busOn(transport);
  });

  afterEach(async () => {
    await program?.close();
    program = undefined;
    await bus.close();
    await transport.close();
  });

  const start = async (options: Partial<ConsumerOptions> = {}) => {
    program = await startProgram(transport, [tillController(till), doorController(till)], {
      groups: ['till', 'door'],
      onDeadLetter: async (letter) => void till.letters.push(letter),
      ...options,
    });
    await bus.connect();
  };

  it('answers a request with an instance of the reply class', async () => {
    await start();
    const answer = await bus.request(testTopics.asked, ask(21));
    expect(answer).toBeInstanceOf(Answer);
    expect(answer.doubled).toBe(42);
  });

  it('passes the payload as a validated copy of its class', async () => {
    await start();
    const sent = { ...ask(1), note: null };
    await bus.request(testTopics.asked, sent);
    expect(till.seen[0]?.ask).toEqual(sent);
    expect(till.seen[0]?.ask).not.toBe(sent);
  });

  it('starts the handlers of one key in the order of publishing', async () => {
    await start();
    const sends: Promise<void>[] = [];
    for (let number = 0; number < 100; number += 1) {
      for (const account of ['a1', 'a2', 'a3'])
        sends.push(bus.publish(testTopics.told, ask(number, account)));
    }
    await Promise.all(sends);
    await until('all 300 are handled', () => till.seen.length >= 300);
    const inOrder = Array.from({ length: 100 }, (_, number) => number);
    for (const account of ['a1', 'a2', 'a3']) expect(till.numbersOf(account)).toEqual(inOrder);
  });

  it('drops the reply to a request topic that was only published', async () => {
    await start();
    await bus.publish(testTopics.ended, ask(3));
    await until('it is handled', () => till.seen.length === 1);
  });

  it('publishes to a topic without readers', async () => {
    await start();
    await bus.publish(testTopics.unread, ask(1));
  });

  it('retries a message while its error is temporary', async () => {
    await start();
    let failures = 0;
    till.work = async () => {
      failures += 1;
      if (failures <= 3) throw new Passing('the database is gone');
    };
    const answer = await bus.request(testTopics.asked, ask(5));
    expect(answer.doubled).toBe(10);
    expect(till.numbersOf('a1')).toEqual([5, 5, 5, 5]);
    expect(till.letters).toEqual([]);
  });

  it('stores an event that cannot be handled as a dead letter, and continues', async () => {
    await start();
    till.work = async ({ number }) => {
      if (number === 13) throw new Error('a broken rule');
    };
    const bad = ask(13);
    await bus.publish(testTopics.told, bad);
    await bus.publish(testTopics.told, ask(14));
    await until('the next one is handled', () => till.numbersOf('a1').includes(14));
    await until('the letter is kept', () => till.letters.length > 0);
    expect(till.letters).toEqual([
      expect.objectContaining({
        topic: 'test.told',
        group: 'till',
        key: 'a1',
        id: bad.id,
        payload: JSON.stringify(bad),
        reason: 'Error: a broken rule',
      }),
    ]);
  });

  it('stores a message that does not match its topic as a dead letter with its id', async () => {
    await start();
    await bus.publishText('test.told', 'a1', '{"id":"x9","account":"a1","number":"many"}');
    await bus.publishText('test.told', 'a1', 'not json');
    await until('two letters', () => till.letters.length === 2);
    expect(till.letters[0]).toMatchObject({ id: 'x9', reason: expect.stringContaining('number must be') });
    expect(till.letters[1]).toMatchObject({ id: null, payload: 'not json' });
    expect(till.seen).toEqual([]);
  });

  it('retries a dead letter that could not be stored', async () => {
    let refusals = 0;
    await start({
      onDeadLetter: async (letter) => {
        refusals += 1;
        if (refusals < 3) throw new Error('no room');
        till.letters.push(letter);
      },
    });
    await bus.publishText('test.told', 'a1', 'not json');
    await until('the letter is kept', () => till.letters.length === 1);
  });

  it('answers a request that fails permanently with an error, and stores no dead letter if the topic says so', async () => {
    await start();
    till.work = async () => {
      throw new Error('secret detail');
    };
    const failure: unknown = await bus.request(testTopics.asked, ask(1)).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(BusRejected);
    expect(failure).toMatchObject({ code: 'internal_error', message: 'The request could not be handled.' });
    expect(till.letters).toEqual([]);
    await expect(bus.request(testTopics.ended, ask(1))).rejects.toThrow(BusRejected);
    expect(till.letters).toHaveLength(1);
  });

  it('gives up waiting in time, and a repeat gets the stored answer', async () => {
    await start();
    const blocked = gate();
    till.work = async () => blocked.opened;
    const question = ask(8);
    await expect(bus.request(testTopics.asked, question, { timeoutMs: 50 })).rejects.toThrow(BusTimeout);
    blocked.open();
    expect((await bus.request(testTopics.asked, question)).doubled).toBe(16);
  });

  it('reports when everything before a marker was handled', async () => {
    await start();
    await bus.request(testTopics.ended, ask(1));
    const before = await bus.endOffsets(testTopics.ended);
    await until('the past is handled', () => bus.hasConsumedPast('till', before));
    const blocked = gate();
    till.work = async () => blocked.opened;
    const waiting = bus.request(testTopics.ended, ask(2));
    await until('it has arrived', () => till.seen.length === 2);
    const after = await bus.endOffsets(testTopics.ended);
    expect(await bus.hasConsumedPast('till', after)).toBe(false);
    expect(await bus.hasConsumedPast('till', before)).toBe(true);
    blocked.open();
    await waiting;
    await until('it is handled', () => bus.hasConsumedPast('till', after));
  });

  it('reports this for a topic that never had a message', async () => {
    await start();
    expect(await bus.hasConsumedPast('till', await bus.endOffsets(testTopics.told))).toBe(true);
  });

  it('announces when it starts receiving broadcasts', async () => {
    let assigned = 0;
    await start({ onAssigned: () => (assigned += 1) });
    expect(assigned).toBe(1);
    await bus.publish(testTopics.changed, ask(1));
    await until('it is heard', () => till.seen.length === 1);
  });

  it('with chaos, delivers twice, in another order, and loses the first answer', async () => {
    await start({ chaos: { duplicate: true, reorder: true, dropFirstReply: true, seed: 7, maxDelayMs: 20 } });
    const questions = Array.from({ length: 20 }, (_, number) => ask(number));
    await Promise.all(
      questions.map(async (question) => {
        await expect(bus.request(testTopics.asked, question, { timeoutMs: 1_500 })).rejects.toThrow(
          BusTimeout,
        );
        expect((await bus.request(testTopics.asked, question)).id).toBe(question.id);
      }),
    );
    await until('each came four times', () => till.seen.length === 80);
    const firstSeen = [...new Set(till.numbersOf('a1'))];
    expect(firstSeen).not.toEqual([...firstSeen].sort((a, b) => a - b));
  });

  it('refuses to start without a handler for each topic of its groups, and says how to fix it', async () => {
    const starting = startProgram(transport, [doorController(till)], { groups: ['till', 'door'] });
    await expect(starting).rejects.toThrow(/test\.asked has no handler for till: put @Handles/);
  });

  it('refuses to start with two handlers for one topic and group', async () => {
    const controllers = [tillController(till), tillController(till)];
    await expect(startProgram(transport, controllers, { groups: ['till'] })).rejects.toThrow(
      /test\.asked has 2 handlers for till: keep one/,
    );
  });

  it('refuses to start with a handler for a group that it does not host', async () => {
    const controllers = [tillController(till), doorController(till)];
    await expect(startProgram(transport, controllers, { groups: ['till'] })).rejects.toThrow(
      /test\.changed is handled for door, which is not hosted here/,
    );
  });
}
