import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { request } from 'node:http';
import { revokeCustomerKey } from '#people/accounts/customers.js';
import { type Customer, json, type Relay, startRelay, until } from '../support/relay.js';

const IMAGES = '/v1/images/generations';
const IMAGE = { model: 'vendora-imagine-image', prompt: 'a lighthouse [[instant]]' };

describe('a revoked key', () => {
  let relay: Relay;

  beforeAll(async () => {
    relay = await startRelay({ KEY_CACHE_SECONDS: '600' });
  });
  afterAll(() => relay.close());

  /** The customer's number of holds. */
  async function holds({ accountId }: Customer): Promise<number> {
    const { rows } = await relay.fixture.billing.query<{ holds: number }>(
      `SELECT count(*)::integer AS holds FROM charges WHERE account_id = $1 AND state <> 'refused'`,
      [accountId],
    );
    return rows[0]?.holds ?? 0;
  }

  it('costs nothing from the moment it is deleted, whatever is in progress', async () => {
    for (let round = 0; round < 5; round += 1) {
      const customer = await relay.customer('5');
      let revoked = false;
      const clients = Array.from({ length: 12 }, async () => {
        while (!revoked) await (await customer.send(IMAGES, json(IMAGE))).text();
      });
      await until('some holds', async () => (await holds(customer)) >= 10);
      await revokeCustomerKey(relay.fixture.billing, customer.keyId);
      const heldBefore = await holds(customer);
      const late = Array.from({ length: 12 }, () => customer.send(IMAGES, json(IMAGE)));
      const statuses = (await Promise.all(late)).map(({ status }) => status);
      revoked = true;
      await Promise.all(clients);
      expect(new Set(statuses)).toEqual(new Set([401]));
      expect(await holds(customer)).toBe(heldBefore);
    }
  });

  it('is refused on every path long before the gateways’ cache of keys expires', async () => {
    const customer = await relay.customer('1');
    expect((await customer.send('/v1/models')).status).toBe(200);
    await revokeCustomerKey(relay.fixture.billing, customer.keyId);
    await until('the refusal', async () => (await customer.send('/v1/models')).status === 401);
  });
});

describe('a gateway with configured hosts', () => {
  let relay: Relay;
  let customer: Customer;

  beforeAll(async () => {
    relay = await startRelay({
      ALLOWED_HOSTS: '127.0.0.1, Alias.example:8443',
      PUBLIC_BASE_URL: 'https://api.example.com/base',
    });
    customer = await relay.customer('1');
  });
  afterAll(() => relay.close());

  function ask(host: string, path = '/v1/models'): Promise<{ status: number; body: string }> {
    const headers = { host, authorization: `Bearer ${customer.apiKey}` };
    return new Promise((resolve, reject) => {
      request(relay.baseUrl + path, { headers }, (response) => {
        let body = '';
        response.setEncoding('utf8').on('data', (text: string) => (body += text));
        response.on('end', () => resolve({ status: response.statusCode ?? 0, body }));
      })
        .on('error', reject)
        .end();
    });
  }

  it.each(['127.0.0.1', '127.0.0.1:8787', 'alias.example:8443', 'ALIAS.example:8443', 'api.example.com'])(
    'answers %s',
    async (host) => {
      expect((await ask(host)).status).toBe(200);
    },
  );

  it.each(['evil.example', 'alias.example', 'alias.example:80', '127.0.0.1.evil.example'])(
    'refuses "%s" in the error format of the path',
    async (host) => {
      const refused = await ask(host);
      expect(refused.status).toBe(421);
      expect(JSON.parse(refused.body)).toMatchObject({ error: { code: 'unknown_host' } });
      const google = await ask(host, '/v1beta/models');
      expect(JSON.parse(google.body)).toMatchObject({ error: { code: 421 }, code: 'unknown_host' });
      expect((await ask(host, '/nowhere')).status).toBe(421);
    },
  );
});
