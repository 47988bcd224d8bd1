import { generateKeyPairSync, verify as verifySignature } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { headText } from '#ledger/chain/chain-signature.js';
import { forge } from '../support/forgery.js';
import { type Person, person } from '../support/console.js';
import { runControls } from '../support/controls.js';
import { ensureBuilt, type Finished } from '../support/programs.js';
import { runTollgate } from '../support/tollgate.js';
import { startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.js';
import { expectCleanLedger, json, type Relay, startRelay, until } from '../support/relay.js';

/** The chain of a running relay: how it grows and is published, and what it reveals after a forgery. */
let relay: Relay;
let finance: Person;
let receiver: WebhookReceiver;
let folder: string;
const { privateKey, publicKey } = generateKeyPairSync('ed25519');

beforeAll(async () => {
  ensureBuilt();
  relay = await startRelay({
    CHAIN_SEAL_SECONDS: '0.1',
    CHAIN_SIGNING_KEY: privateKey.export({ type: 'pkcs8', format: 'der' }).toString('base64'),
    WEBHOOK_ALLOW_PRIVATE: 'true',
    WEBHOOK_POLL_SECONDS: '0.05',
    RECONCILE_SECONDS: '3600',
    RECONCILE_GRACE_SECONDS: '60',
  });
  finance = await person(relay, { roles: ['finance'] });
  receiver = await startWebhookReceiver();
  folder = mkdtempSync(join(tmpdir(), 'tollgate-chain-'));
  const url = `${receiver.url}/heads`;
  await finance.api.POST('/api/webhooks', { body: { url, events: ['ledger.head'] } });
  const customer = await relay.customer('10');
  await customer.send(
    '/v1/images/generations',
    json({ model: 'vendora-imagine-image', n: 2, prompt: 'a lighthouse' }),
  );
});
afterAll(async () => {
  await relay?.close();
  await receiver?.close();
  if (folder) rmSync(folder, { recursive: true });
});

function verify(...args: string[]): Promise<Finished> {
  return runTollgate(['ledger', 'verify', ...args], { DATABASE_URL: relay.fixture.urlFor('billing') });
}

async function blocks(query: { limit?: number; cursor?: string } = {}) {
  const { data } = await finance.api.GET('/api/finance/chain', { params: { query } });
  if (!data) throw new Error('The blocks were not listed.');
  return data;
}

/** Waits until every posting is in a block. */
function sealed(): Promise<unknown> {
  return until('everything is sealed', async () => {
    const { rows } = await relay.fixture.owner.query<{ done: boolean }>(
      `SELECT max(id) = (SELECT max(last_id) FROM ledger_chain_blocks) AS done FROM ledger_transactions`,
    );
    return rows[0]?.done === true;
  });
}

const SETTLED = `(SELECT id FROM ledger_transactions WHERE kind = 'settle' ORDER BY id LIMIT 1)`;
const double = (times: string) =>
  forge(
    relay.fixture.owner,
    `UPDATE ledger_entries SET amount = amount ${times} WHERE transaction_id = ${SETTLED}`,
  );

describe('the chain of the ledger', () => {
  it('grows after each posting, and is visible on the bus, in the log and to finance', async () => {
    await sealed();
    const { items } = await blocks({ limit: 1 });
    const [head] = items;
    expect(head?.hash).toMatch(/^[0-9a-f]{64}$/);
    expect(relay.logged()).toContain(head?.hash ?? '-');
    await until('the block is published', async () => {
      const { rows } = await relay.fixture.owner.query(`SELECT FROM outbox WHERE topic = 'ledger.sealed'`);
      return rows.length === 0;
    });
    const { response } = await (await person(relay, { roles: ['support'] })).api.GET('/api/finance/chain');
    expect(response.status).toBe(403);
  });

  it('is listed in pages', async () => {
    await relay.customer('5');
    await sealed();
    const numbers: number[] = [];
    for (let cursor: string | undefined; ;) {
      const page = await blocks({ limit: 1, ...(cursor !== undefined && { cursor }) });
      numbers.push(...page.items.map(({ number }) => Number(number)));
      if (page.nextCursor === null) break;
      cursor = page.nextCursor;
    }
    expect(numbers).toEqual(numbers.map((_, index) => numbers.length - index));
    expect(numbers.length).toBeGreaterThan(1);
  });

  it('is verified on the command line, and against a stored hash', async () => {
    const hash = (await blocks()).items[0]?.hash ?? '';
    const found = await verify('--head', hash);
    expect(found).toMatchObject({ code: 0 });
    expect(found.stdout).toContain('nothing has changed since it was sealed');
    const printed = JSON.parse((await verify('--json', '--from-block', '2')).stdout) as object;
    expect(printed).toMatchObject({ ok: true, findings: [], head: { hash } });
    const other = await verify('--head', 'f'.repeat(64));
    expect(other).toMatchObject({ code: 1 });
    expect(other.stdout).toContain('No block has the hash');
    expect((await verify('--head', 'abc')).code).toBe(2);
    expect((await verify('--from-block', '0')).code).toBe(2);
  });

  it('is signed, mailed to finance staff, and verified with only the public key', async () => {
    await sealed();
    const [head] = (await blocks({ limit: 1 })).items;
    await until('the signed head to arrive', async () =>
      receiver.at('/heads').some(({ body }) => body.includes(head?.hash ?? '-')),
    );
    const sent = receiver.at('/heads').find(({ body }) => body.includes(head?.hash ?? '-'));
    const { type, data } = JSON.parse(sent?.body ?? '{}') as { type: string; data: Record<string, string> };
    expect([type, data['block']]).toEqual(['ledger.head', head?.number]);
    const text = Buffer.from(headText({ number: BigInt(data['block']!), hash: data['hash']! }));
    expect(verifySignature(null, text, publicKey, Buffer.from(data['signature']!, 'base64'))).toBe(true);
    const [shown] = (await blocks({ limit: 1 })).items;
    expect(shown?.signature).toMatchObject({ keyId: data['keyId'], signature: data['signature'] });

    const [ours, another] = ['ours.pub', 'another.pub'].map((name) => join(folder, name)) as [string, string];
    writeFileSync(ours, publicKey.export({ type: 'spki', format: 'pem' }));
    writeFileSync(another, generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'pem' }));
    const found = JSON.parse((await verify('--public-key', ours, '--json')).stdout) as object;
    expect(found).toMatchObject({ ok: true, head: { signature: { keyId: data['keyId'] } } });
    const other = await verify('--public-key', another);
    expect(other).toMatchObject({ code: 1 });
    expect(other.stdout).toContain('is not signed by the key');
    expect((await verify('--public-key', join(folder, 'none'))).code).toBe(2);
  });

  it('names stored balances that differ from their entries', async () => {
    const { accountId } = await relay.customer('7');
    await sealed();
    const set = (sign: string) =>
      forge(
        relay.fixture.owner,
        `UPDATE customer_balances SET main = main ${sign} 1 WHERE account_id = '${accountId}'`,
      );
    await set('+');
    const found = await verify();
    expect(found.code).toBe(1);
    expect(found.stdout).toContain(
      `The stored main balance of account ${accountId} is 7000000001 nanos; its entries sum to 7000000000.`,
    );
    await set('-');
    expect((await verify()).code).toBe(0);
  });

  it('names a forged amount on the command line and in its control, until it is corrected', async () => {
    await double('* 2');
    const found = await verify();
    expect(found.code).toBe(1);
    expect(found.stdout).toMatch(/was changed: entry 0 differs, entry 1 differs\. Its reference is charge:/);
    const controls = async () => {
      const looked = await runControls(finance, ['chain', 'chain-whole']);
      return looked.map(({ id, count }) => [id, count]);
    };
    expect(await controls()).toEqual([
      ['chain', 1],
      ['chain-whole', 1],
    ]);
    await double('/ 2');
    expect(await controls()).toEqual([
      ['chain', 0],
      ['chain-whole', 0],
    ]);
    await expectCleanLedger(relay);
  });
});
