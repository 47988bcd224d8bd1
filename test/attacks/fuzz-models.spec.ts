import { afterAll, beforeAll, expect, it } from 'vitest';
import { expectNoFailure, fuzz, openApiOf, withValues } from '../support/fuzzer.js';
import { expectCleanLedger, type Relay, startRelay } from '../support/relay.js';

const LEAST_REQUESTS = 1_000;

let relay: Relay;

beforeAll(async () => {
  relay = await startRelay();
});
afterAll(async () => {
  await relay?.close();
});

it('answers generated model calls as its document says, and keeps the books right', async () => {
  const customer = await relay.customer('1000');
  const { data } = (await (await customer.send('/v1/models')).json()) as { data: { id: string }[] };
  const document = withValues(
    await openApiOf(`${relay.baseUrl}/openapi.json`),
    'model',
    data.map(({ id }) => id),
  );
  const headers = { authorization: `Bearer ${customer.apiKey}` };
  const result = await fuzz({ document, baseUrl: relay.baseUrl, headers, examples: 40 });
  expectNoFailure(result, LEAST_REQUESTS);
  expect(await chargesOf(relay)).toBeGreaterThan(20);
  await expectCleanLedger(relay);
});

async function chargesOf({ fixture }: Relay): Promise<number> {
  const { rows } = await fixture.billing.query<{ count: number }>(
    'SELECT count(*)::integer AS count FROM charges',
  );
  return rows[0]?.count ?? 0;
}
