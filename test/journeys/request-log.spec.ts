import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { moveAnHourBack } from '../support/earlier-charges.js';
import { type Customer, json, type Relay, startRelay, until } from '../support/relay.js';

let folder: string;
let relay: Relay;
let customer: Customer;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'request-log-'));
  relay = await startRelay({ REQUEST_LOG: 'file', REQUEST_LOG_DIR: folder, REQUEST_LOG_SECONDS: '0.1' });
  customer = await relay.customer('0.05');
});
afterAll(async () => {
  await relay?.close();
  if (folder) await rm(folder, { recursive: true });
});

/** The lines of every object, ordered by time. */
async function exported(): Promise<object[]> {
  const files = (await readdir(folder, { recursive: true }))
    .filter((name) => name.endsWith('.ndjson.gz'))
    .sort();
  const texts = await Promise.all(files.map(async (name) => gunzipSync(await readFile(join(folder, name)))));
  return texts
    .join('')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as object);
}

it('exports charged and refused requests once their hour is over, without secrets', async () => {
  const prompt = 'a lighthouse that nobody else may know of';
  const image = () => customer.send('/v1/images/generations', json({ model: 'imgmodel-4', prompt }));
  expect([(await image()).status, (await image()).status]).toEqual([200, 403]);
  await until('a first export', async () => (await readdir(folder)).length > 0);
  // What has been exported stays exported.
  await rm(join(folder, 'requests'), { recursive: true });
  await moveAnHourBack(relay.fixture);
  const lines = await until('both lines', async () => {
    const found = await exported();
    return found.length === 2 && found;
  });
  expect(lines).toEqual([
    expect.objectContaining({
      accountId: customer.accountId,
      keyId: customer.keyId,
      model: 'imgmodel-4',
      family: 'image',
      state: 'settled',
      settled: '0.03',
      channel: 'sandbox',
      upstreamStatus: 200,
    }),
    expect.objectContaining({ accountId: customer.accountId, state: 'refused', settled: null }),
  ]);
  const text = JSON.stringify(lines);
  for (const each of [prompt, customer.apiKey, '127.0.0.1']) expect(text).not.toContain(each);
});
