import { afterAll, beforeAll, it } from 'vitest';
import { person } from '../support/console.js';
import { expectNoFailure, fuzz, openApiOf } from '../support/fuzzer.js';
import { expectCleanLedger, type Relay, startRelay } from '../support/relay.js';

const LEAST_REQUESTS = 4_000;
/** They end the session that the rest needs, or send events without end. */
const LEFT_OUT = ['signOut', 'watchAccount', 'viewAccount'];

let relay: Relay;

beforeAll(async () => {
  relay = await startRelay();
});
afterAll(async () => {
  await relay?.close();
});

it('answers generated console requests of all staff roles as its document says', async () => {
  const { headers } = await person(relay, { roles: ['support', 'finance', 'admin'], credits: '1000' });
  const document = await openApiOf(`${relay.consoleUrl}/api/openapi.json`);
  const target = { document, baseUrl: relay.consoleUrl, headers, examples: 2, leftOut: LEFT_OUT };
  expectNoFailure(await fuzz(target), LEAST_REQUESTS);
  await expectCleanLedger(relay);
});
