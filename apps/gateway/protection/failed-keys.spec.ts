import Fastify, { type FastifyInstance } from 'fastify';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { ManualClock } from '#platform/clock.fixture.js';
import { KeyAuthenticator } from '#identity/key-authenticator.js';
import { ApiError } from '#platform/errors.js';
import { newApiKey } from '#platform/ids.js';
import { authenticationHook } from '../http/caller.js';
import { FailedKeys } from './failed-keys.js';

const PER_MINUTE = 5;
const MADE_UP = () => Array.from({ length: 4 * PER_MINUTE }, newApiKey);

let server: FastifyInstance;
/** Lookups that the database has not answered. */
let waiting: PromiseWithResolvers<{ rows: Record<string, unknown>[] }>[];

beforeEach(async () => {
  waiting = [];
  const clock = new ManualClock(0);
  const database = {
    query: () => {
      const answer = Promise.withResolvers<{ rows: Record<string, unknown>[] }>();
      waiting.push(answer);
      return answer.promise;
    },
  };
  server = Fastify();
  const keys = new KeyAuthenticator(database, clock, { lifeMs: 1_000 });
  server.addHook('onRequest', authenticationHook(keys, new FailedKeys(clock, PER_MINUTE)));
  server.setErrorHandler((error, _request, reply) => {
    void reply.code(error instanceof ApiError ? error.status : 503).send({});
  });
  server.get('/', async () => 'in');
  await server.ready();
});
afterEach(() => server.close());

const ask = (key: string) =>
  server
    .inject({ url: '/', headers: { authorization: `Bearer ${key}` } })
    .then(({ statusCode }) => statusCode);

/** Asks with all of these at once, and answers the lookups when no more come. */
async function askAll(keys: string[], answer: (lookup: (typeof waiting)[number]) => void) {
  const asked = keys.map(ask);
  for (let turns = 0; turns < 50; turns += 1) await turn();
  const lookups = waiting.splice(0);
  lookups.forEach(answer);
  return { lookups: lookups.length, statuses: await Promise.all(asked) };
}

it('a burst of made-up keys is refused before most of them are looked up', async () => {
  const { lookups, statuses } = await askAll(MADE_UP(), ({ resolve }) => resolve({ rows: [] }));
  expect(lookups).toBe(PER_MINUTE);
  expect(statuses.filter((status) => status === 401)).toHaveLength(PER_MINUTE);
  expect(statuses.filter((status) => status === 429)).toHaveLength(3 * PER_MINUTE);
});

it('a key that many requests bring at once counts once', async () => {
  const key = newApiKey();
  const { lookups, statuses } = await askAll(
    MADE_UP().map(() => key),
    ({ resolve }) => resolve({ rows: [] }),
  );
  expect(lookups).toBe(1);
  expect(new Set(statuses)).toEqual(new Set([401]));
});

it('keys that could not be looked up do not count', async () => {
  for (let times = 0; times < 3; times += 1) {
    const { statuses } = await askAll(MADE_UP().slice(0, PER_MINUTE), ({ reject }) =>
      reject(new Error('down')),
    );
    expect(statuses).toEqual(Array.from({ length: PER_MINUTE }, () => 503));
  }
});
