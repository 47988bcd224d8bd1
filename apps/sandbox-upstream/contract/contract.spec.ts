import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { protocolNames, Upstreams } from '#upstream/adapters.js';
import type { Capability } from '#upstream/protocol.js';
import { Bench, CALL_MS, type CaseOf } from './bench.fixture.js';
import { casesOf } from './cases.fixture.js';
import { imageCase, imageEventsCase } from './image.driver.fixture.js';
import { answerCase, conversationCase, countCase } from './stream.driver.fixture.js';
import { taskCase } from './task.driver.fixture.js';
import { casesFor, vendorContracts } from './vendors.fixture.js';

/*
 * Runs every protocol against the vendor that stands in for it: what one writes, the other reads. Each protocol runs
 * every case of every operation that its adapter offers; `docs/models.md` is written from the same tables. Cases mostly
 * wait, so operations run side by side, each on a sandbox with its own clock and counts.
 */

const AT_ONCE = 8;

const drivers: Record<Capability, (bench: Bench, each: CaseOf) => Promise<string>> = {
  images: imageCase,
  imageEdits: imageCase,
  maskedEdits: imageCase,
  imageStream: imageEventsCase,
  editStream: imageEventsCase,
  videos: taskCase,
  silentVideos: taskCase,
  videoRemixes: taskCase,
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
const offers = protocolNames.flatMap((protocol) =>
  [...upstreams.adapterFor(protocol).capabilities].map((operation) => ({ protocol, operation })),
);
const outcomes = new Map<string, Promise<string>>();
let benches: Bench[] = [];
let bench: Bench;

beforeAll(async () => {
  bench = await Bench.start();
  benches = await Promise.all(Array.from({ length: AT_ONCE }, () => Bench.start()));
  for (const [lane, each] of benches.entries()) {
    beginCases(
      each,
      offers.filter((_, index) => index % AT_ONCE === lane),
    );
  }
});
afterAll(async () => {
  await upstreams.close();
  await Promise.all([bench, ...benches].map((each) => each?.close()));
});

/** Runs the cases of these operations one after the other. */
function beginCases(on: Bench, own: typeof offers): void {
  let before: Promise<unknown> = Promise.resolve();
  for (const { protocol, operation } of own) {
    for (const { happens } of casesFor(protocol, operation)) {
      const each = { protocol, operation, happens };
      const outcome = before.then(() => on.outcomeOf(each, () => drivers[operation](on, each)));
      outcomes.set(`${operation} over ${protocol}: ${happens}`, outcome);
      before = outcome.catch(() => undefined);
    }
  }
}

describe.each(offers)('$operation over $protocol', ({ protocol, operation }) => {
  it.each(casesFor(protocol, operation))('$name: $outcome', async ({ happens, outcome }) => {
    expect(await outcomes.get(`${operation} over ${protocol}: ${happens}`)).toBe(outcome);
  });
});

describe.each(protocolNames)('a test of a channel over %s', (protocol) => {
  const each = { protocol, operation: 'images' as const };
  const stats = async () => {
    const { polls: _, refusals: __, ...works } = await bench.sandbox.read('/_sandbox/stats');
    return works;
  };
  const trials = async (happens: string) => {
    const channel = bench.channel({ ...each, happens });
    return (await bench.upstreams.probeKeys(channel, CALL_MS)).map(({ verdict }) => verdict);
  };

  it('distinguishes a good key from a wrong one, and costs nothing', async () => {
    const before = await stats();
    expect(await trials('nothing')).toEqual(['ok']);
    expect(await trials('wrong-key')).toEqual(['failed']);
    expect(await stats()).toEqual(before);
  });
});

it('declares differences only for what is offered and tested', () => {
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
