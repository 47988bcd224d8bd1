import { expect, it } from 'vitest';
import { openPool } from '#database/database.js';
import { untilSchema } from './schema-wait.js';

/** @returns what it logged, and how it ended: at the latest, by an error in the log beyond `errorsAllowed` */
async function waitOn(url: string, unknownNameMs: number, errorsAllowed: number) {
  const warnings: string[] = [];
  const errors: string[] = [];
  const log = {
    warn: (_: object, words: string) => void warnings.push(words),
    error: (_: object, words: string) => {
      if (errors.push(words) > errorsAllowed) throw new Error('said often enough');
    },
  };
  const pool = openPool({ url, max: 1, applicationName: 'schema-wait' });
  const ending = await untilSchema(pool, { log, remindMs: 1, unknownNameMs }).catch(
    (error: Error) => error.message,
  );
  await pool.end();
  return { ending, warnings, errors };
}

it('a start without a database says repeatedly what is wrong', async () => {
  const sentence = expect.stringContaining('The database cannot be reached: connect ECONNREFUSED');
  expect(await waitOn('postgres://nobody@127.0.0.1:1/none', 1, 1)).toEqual({
    ending: 'said often enough',
    warnings: [sentence],
    errors: [sentence, sentence],
  });
});

it('a start ends if the host name stays unknown', async () => {
  const { ending } = await waitOn('postgres://nobody@no-such-host.invalid/none', 1, Infinity);
  expect(ending).toMatch(/getaddrinfo (ENOTFOUND|EAI_AGAIN) no-such-host/);
});
