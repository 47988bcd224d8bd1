import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { protocolNames, Upstreams } from '#upstream/adapters.js';
import type { Capability } from '#upstream/protocol.js';
import { Bench, type CaseOf } from './bench.fixture.js';
import { casesOf } from './cases.js';
import { imageCase } from './image.driver.js';
import { answerCase, conversationCase, countCase } from './stream.driver.js';
import { taskCase } from './task.driver.js';
import { casesFor, vendorContracts } from './vendors.js';

/*
 * Every protocol against the vendor that stands in for it: what one writes, the other reads. Each runs every case of
 * every operation that its adapter offers; `docs/models.md` is written from the same tables.
 */

const drivers: Record<Capability, (bench: Bench, each: CaseOf) => Promise<string>> = {
  images: imageCase,
  imageEdits: imageCase,
  videos: taskCase,
  assets3d: taskCase,
  chat: conversationCase,
  responses: conversationCase,
  messages: conversationCase,
  contents: conversationCase,
  speech: answerCase,
  transcription: answerCase,
  translation: answerCase,
  embeddings: answerCase,
  messagesCount: countCase,
  contentsCount: countCase,
};

const upstreams = new Upstreams();
let bench: Bench;

beforeAll(async () => {
  bench = await Bench.start();
});
afterAll(async () => {
  await upstreams.close();
  await bench.close();
});

const offers = protocolNames.flatMap((protocol) =>
  [...upstreams.adapterFor(protocol).capabilities].map((operation) => ({ protocol, operation })),
);

describe.each(offers)('$operation over $protocol', ({ protocol, operation }) => {
  it.each(casesFor(protocol, operation))('$name: $outcome', async ({ happens, outcome }) => {
    expect(await drivers[operation](bench, { protocol, operation, happens })).toBe(outcome);
  });
});

it('declares differences only of what is offered and tried', () => {
  const idle = Object.entries(vendorContracts).flatMap(([protocol, { differences }]) =>
    Object.entries(differences).flatMap(([name, cases]) => {
      const own = offers.filter((each) => each.protocol === protocol).map(({ operation }) => operation);
      const concerned = name === 'every' ? own : own.filter((operation) => operation === name);
      const known = concerned.flatMap((operation) => [...casesOf[operation].keys()]);
      return Object.keys(cases).filter((each) => !known.includes(each));
    }),
  );
  expect(idle).toEqual([]);
});
