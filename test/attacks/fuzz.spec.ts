import { afterAll, beforeAll, expect, it } from 'vitest';
import { person } from '../support/console.js';
import { fuzz, type FuzzResult, withValues } from '../support/fuzzer.js';
import { expectCleanLedger, type Relay, startRelay } from '../support/relay.js';

const LEAST_REQUESTS = 10_000;
const seed = Number(process.env['FUZZ_SEED'] ?? 1 + (Date.now() % 1_000_000));
/** They end the session that the rest needs, or send events for as long as the page is open. */
const LEFT_OUT = ['signOut', 'watchAccount', 'viewAccount'];

let relay: Relay;
let requests = 0;

beforeAll(async () => {
  relay = await startRelay();
});
afterAll(async () => {
  await relay?.close();
});

it('answers generated calls of models as its document says, and keeps the books right', async () => {
  const customer = await relay.customer('1000');
  const { data } = (await (await customer.send('/v1/models')).json()) as { data: { id: string }[] };
  const document = withValues(
    await documentOf(`${relay.baseUrl}/openapi.json`),
    'model',
    data.map(({ id }) => id),
  );
  const headers = { authorization: `Bearer ${customer.apiKey}` };
  expectNoFailure(await fuzz({ document, baseUrl: relay.baseUrl, headers, examples: 80, seed }));
  expect(await chargesOf(relay)).toBeGreaterThan(50);
  await expectCleanLedger(relay);
});

it('answers generated requests of all staff roles at the console as its document says', async () => {
  const { headers } = await person(relay, { roles: ['support', 'finance', 'admin'], credits: '1000' });
  const document = await documentOf(`${relay.consoleUrl}/api/openapi.json`);
  const target = { document, baseUrl: relay.consoleUrl, headers, examples: 5, seed };
  expectNoFailure(await fuzz({ ...target, leftOut: LEFT_OUT }));
  await expectCleanLedger(relay);
  expect(requests).toBeGreaterThanOrEqual(LEAST_REQUESTS);
});

async function chargesOf({ fixture }: Relay): Promise<number> {
  const { rows } = await fixture.billing.query<{ count: number }>(
    'SELECT count(*)::integer AS count FROM charges',
  );
  return rows[0]?.count ?? 0;
}

async function documentOf(url: string): Promise<object> {
  return (await (await fetch(url)).json()) as object;
}

function expectNoFailure(result: FuzzResult): void {
  requests += result.requests;
  process.stderr.write(`${result.requests} generated requests, FUZZ_SEED=${seed}\n`);
  if (result.code !== 0) throw new Error(`FUZZ_SEED=${seed} failed:\n${result.output.slice(-20_000)}`);
}
