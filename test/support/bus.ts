import { Controller, type INestMicroservice } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { IsOptional } from 'class-validator';
import { pino } from 'pino';
import { Bus, type BusOptions } from '#bus/bus.js';
import type { ConsumerOptions, DeadLetter } from '#bus/delivery.js';
import { Handles } from '#bus/handles.decorator.js';
import { IsCount, IsWord } from '#bus/payload.rules.js';
import { topic, type AnyTopic } from '#bus/topic.js';
import type { BusTransport } from '#bus/transport.js';
import { Registry } from '#platform/metrics.js';
import { LIMIT_MS } from './eventually.js';

export class Ask {
  @IsWord() id!: string;
  @IsWord() account!: string;
  @IsCount() number!: number;
  @IsOptional() @IsWord() note?: string | null;
}

export class Answer {
  @IsWord() id!: string;
  @IsCount() doubled!: number;
}

const common = {
  version: 1,
  payload: Ask,
  partitions: 3,
  key: (ask: Ask) => ask.account,
  id: (ask: Ask) => ask.id,
  about: 'A test',
  from: ['tests'],
};

/** Test topics, one of each kind. */
export const testTopics = {
  asked: topic({
    ...common,
    name: 'test.asked',
    kind: 'request',
    reply: Answer,
    groups: ['till'],
    deadLetters: false,
  }),
  ended: topic({ ...common, name: 'test.ended', kind: 'either', reply: Answer, groups: ['till'] }),
  told: topic({ ...common, name: 'test.told', kind: 'event', groups: ['till'] }),
  changed: topic({
    ...common,
    name: 'test.changed',
    kind: 'event',
    groups: ['door'],
    broadcast: true,
    partitions: 1,
  }),
  unread: topic({ ...common, name: 'test.unread', kind: 'event', groups: [] }),
};
export const listOfTestTopics: readonly AnyTopic[] = Object.values(testTopics);

export class Passing extends Error {}

/** What the handlers of the program under test receive and do. */
export class Till {
  readonly seen: { topic: string; ask: Ask }[] = [];
  readonly letters: DeadLetter[] = [];
  /** Runs before the handler answers. */
  work: (ask: Ask, topic: string) => Promise<void> = async () => undefined;

  async handle(topicName: string, ask: Ask): Promise<Answer> {
    this.seen.push({ topic: topicName, ask });
    await this.work(ask, topicName);
    return { id: ask.id, doubled: ask.number * 2 };
  }

  numbersOf(account: string): number[] {
    return this.seen.filter(({ ask }) => ask.account === account).map(({ ask }) => ask.number);
  }
}

export function tillController(till: Till) {
  @Controller()
  class TillController {
    @Handles(testTopics.asked)
    async asked(ask: Ask): Promise<Answer> {
      return till.handle('asked', ask);
    }

    @Handles(testTopics.ended)
    async ended(ask: Ask): Promise<Answer> {
      return till.handle('ended', ask);
    }

    @Handles(testTopics.told)
    async told(ask: Ask): Promise<void> {
      await till.handle('told', ask);
    }
  }
  return TillController;
}

export function doorController(till: Till) {
  @Controller()
  class DoorController {
    @Handles(testTopics.changed)
    async changed(ask: Ask): Promise<void> {
      await till.handle('changed', ask);
    }
  }
  return DoorController;
}

type Controllers = (new () => object)[];

/** Starts a program that consumes from the transport. @throws the error of `listen` */
export async function startProgram(
  transport: BusTransport,
  controllers: Controllers,
  options: Partial<ConsumerOptions> & { groups: readonly string[] },
): Promise<INestMicroservice> {
  const module = await Test.createTestingModule({ controllers }).compile();
  module.useLogger(false);
  const app = module.createNestMicroservice({
    strategy: transport.server({ ...consumerDefaults(), ...options }),
  });
  await app.listen();
  return app;
}

function consumerDefaults(): Omit<ConsumerOptions, 'groups'> {
  return {
    isTransient: (error) => error instanceof Passing,
    onDeadLetter: async () => undefined,
    log: silent,
    registry: new Registry(),
  };
}

export const silent = pino({ level: process.env['TEST_LOG_LEVEL'] ?? 'silent' });

/** Unlike a program's, it waits as long as a slow machine takes. */
export function busOn(transport: BusTransport, options?: BusOptions): Bus {
  return new Bus(transport.client({ asks: true }), {
    requestTimeoutMs: LIMIT_MS,
    publishTimeoutMs: LIMIT_MS,
    ...options,
  });
}

let lastId = 0;

export function ask(number: number, account = 'a1'): Ask {
  lastId += 1;
  return { id: `id${lastId}`, account, number };
}

/** Resolves once the condition holds. @throws Error with the description when the limit is over */
export async function until(
  description: string,
  holds: () => boolean | Promise<boolean>,
  limitMs = LIMIT_MS,
): Promise<void> {
  const endMs = Date.now() + limitMs;
  while (!(await holds())) {
    if (Date.now() > endMs) throw new Error(`not so after ${limitMs} ms: ${description}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** A gate at which handlers wait. */
export function gate(): { opened: Promise<void>; open: () => void } {
  let open = () => undefined as void;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open: () => open() };
}
