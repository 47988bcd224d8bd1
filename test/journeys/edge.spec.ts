import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Customer, json, type Relay, startRelay } from '../support/relay.js';

const IMAGE = { model: 'vendora-imagine-image', prompt: 'a lighthouse' };

describe('the edge', () => {
  let relay: Relay;
  let customer: Customer;

  beforeAll(async () => {
    relay = await startRelay({ TRUST_PROXY: 'true', ALLOWED_HOSTS: '127.0.0.1, api.example.com' });
    customer = await relay.customer('1');
  });
  afterAll(() => relay.close());

  const linkOf = async (host: Relay, by: Customer, headers: Record<string, string>): Promise<string> => {
    const response = await by.send('/v1/images/generations', json(IMAGE, headers));
    expect(response.status).toBe(200);
    return ((await response.json()) as { data: { url: string }[] }).data[0]?.url ?? '';
  };

  it('builds links on the address that a trusted proxy sends, if it is one of ours', async () => {
    const forwarded = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'api.example.com' };
    expect(await linkOf(relay, customer, forwarded)).toMatch(
      /^https:\/\/api\.example\.com\/v1\/images\/files\//,
    );
    const odd = { 'x-forwarded-host': 'evil.example/<script>' };
    expect((await customer.send('/v1/images/generations', json(IMAGE, odd))).status).toBe(421);
  });

  it('otherwise builds links on the configured address, and believes no header', async () => {
    const other = await startRelay({ PUBLIC_BASE_URL: 'https://relay.example/base/' });
    const plain = await startRelay();
    try {
      const forwarded = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'evil.example' };
      const configured = await linkOf(other, await other.customer('1'), forwarded);
      expect(configured).toMatch(/^https:\/\/relay\.example\/base\/v1\/images\/files\//);
      const direct = await linkOf(plain, await plain.customer('1'), forwarded);
      expect(direct.startsWith(`${plain.baseUrl}/v1/images/files/`)).toBe(true);
    } finally {
      await other.close();
      await plain.close();
    }
  });

  it('answers its own fault with only a request ID, and logs what happened under that ID', async () => {
    await relay.fixture.owner.query('ALTER TABLE tasks RENAME TO tasks_elsewhere');
    try {
      const response = await customer.send('/v1/videos/01jcq3v8w1f5p6k7m8n9q0r1s2');
      expect(response.status).toBe(500);
      const body = await response.text();
      expect(JSON.parse(body)).toMatchObject({
        error: { type: 'server_error', code: 'internal_error', param: null },
      });
      expect(body).not.toMatch(/tasks|relation|SELECT/);
      const line = relay
        .logged()
        .split('\n')
        .find((each) => each.includes(response.headers.get('x-request-id') ?? '-'));
      expect(JSON.parse(line ?? '{}')).toMatchObject({ route: '/v1/videos/:id', status: 500 });
    } finally {
      await relay.fixture.owner.query('ALTER TABLE tasks_elsewhere RENAME TO tasks');
    }
  });

  it('counts requests by route, holds by outcome, and upstream time', async () => {
    await customer.send('/v1/images/generations', json(IMAGE));
    await customer.send('/no/where');
    const metrics = await relay.registry.metrics();
    expect(metrics).toMatch(
      /gateway_requests_total\{.*route="\/v1\/images\/generations",status="200".*\} [1-9]/,
    );
    expect(metrics).toMatch(/gateway_requests_total\{.*route="unmatched",status="404".*\} [1-9]/);
    expect(metrics).toMatch(/gateway_holds_total\{outcome="held".*\} [1-9]/);
    expect(metrics).toMatch(
      /gateway_upstream_seconds_count\{.*channel="sandbox".*operation="images".*outcome="delivered"/,
    );
    expect(metrics).toMatch(/gateway_undeliverable_resolutions_total\{.*\} 0/);
    expect(metrics).not.toContain(customer.accountId);
  });
});
