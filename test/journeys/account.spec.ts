import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import OpenAI from 'openai';
import { hashApiKey, newApiKey } from '#platform/ids.js';
import { formatAmount, parseAmount } from '#money/amount.js';
import { GatedUpstream } from '../support/gated-upstream.js';
import { closeClean, type Customer, json, type Relay, startRelay, until } from '../support/relay.js';

const IMAGE = { model: 'vendora-imagine-image', prompt: 'a lighthouse [[instant]]', n: 2 };
const CHAT = {
  model: 'vendora-chat',
  messages: [{ role: 'user' as const, content: 'hello' }],
  max_tokens: 50,
};

interface KeyView {
  spendable: string;
  expires_at: number | null;
  limits: Record<string, number | null>;
  spending: Record<
    'total' | 'month' | 'account_month',
    { limit: string | null; used: string; remaining: string | null }
  >;
}
interface Charge {
  id: string;
  state: string;
  model: string;
  held: string;
  settled: string | null;
  released: string | null;
  charged: string;
  refunded: string;
  price: {
    units: string;
    unit_price: string | null;
    lines: { kind: string; amount: string }[] | null;
  } | null;
  delivered: { units: string; lines: { amount: string }[] | null } | null;
  refusal: { code: string } | null;
}
interface Usage {
  scope: string;
  data: { day: string; model: string; requests: number; failed: number; amount: string }[];
  total: { requests: number; failed: number; amount: string };
}

describe('the remaining balance, requested with a key', () => {
  let relay: Relay;
  let upstream: GatedUpstream;
  let customer: Customer;

  beforeAll(async () => {
    relay = await startRelay();
    upstream = await GatedUpstream.before(relay.sandboxUrl, relay.fixture);
    customer = await relay.customer('5');
  });
  afterAll(async () => {
    await closeClean(relay);
    await upstream.close();
  });

  const get = <T>(path: string, by = customer): Promise<T> => by.sdk().get(path);
  const key = (by = customer) => get<KeyView>('/key', by);
  const setKey = (columns: string, { keyId }: Customer) =>
    relay.fixture.owner.query(`UPDATE api_keys SET ${columns} WHERE id = $1`, [keyId]);
  const refusalOf = (asked: Promise<unknown>) => asked.catch((error: unknown) => error);

  /** Sends a request and returns its ID. */
  async function send(path: string, body: object, by = customer): Promise<string> {
    const response = await by.send(path, json(body));
    await response.arrayBuffer();
    return response.headers.get('x-request-id') ?? '';
  }

  /** Another key of the same account. */
  async function secondKey(of: Customer): Promise<OpenAI> {
    const apiKey = newApiKey();
    const keyId = await relay.fixture.key(of.accountId);
    await relay.fixture.owner.query('UPDATE api_keys SET key_hash = $2 WHERE id = $1', [
      keyId,
      hashApiKey(apiKey),
    ]);
    return new OpenAI({ apiKey, baseURL: `${relay.baseUrl}/v1`, maxRetries: 0 });
  }

  it('shows what the key can still spend, by the lowest of its limits and the balance', async () => {
    const other = await relay.customer('5');
    expect(await key(other)).toMatchObject({
      spendable: '5',
      spending: { total: { limit: null, remaining: null } },
    });
    await setKey(`total_limit_nanos = 3000000000, monthly_limit_nanos = 2000000000`, other);
    await send('/v1/images/generations', IMAGE, other);
    const { used } = (await key(other)).spending.total;
    expect(parseAmount(used)).toBeGreaterThan(0n);
    const left = (limit: string) => formatAmount(parseAmount(limit) - parseAmount(used));
    expect(await key(other)).toMatchObject({
      object: 'key',
      group: 'Vendora-Main',
      spendable: left('2'),
      spending: {
        total: { limit: '3', used, remaining: left('3') },
        month: { limit: '2', used, remaining: left('2') },
        account_month: { limit: null, remaining: null },
      },
    });
    await setKey(`monthly_limit_nanos = 1`, other);
    expect(await key(other)).toMatchObject({ spendable: '0', spending: { month: { remaining: '0' } } });
    await setKey(`monthly_limit_nanos = NULL, total_limit_nanos = NULL`, other);
    expect((await key(other)).spendable).toBe((await other.balance()).main);
  });

  it('says what the account has, during and after a call', async () => {
    const other = await relay.customer('5');
    upstream.shut(/slowly/);
    const running = send('/v1/images/generations', { ...IMAGE, prompt: 'slowly' }, other);
    const held = await until('the hold', async () => {
      const credits = await get<{ held: string; available: string }>('/credits', other);
      return credits.held !== '0' && credits;
    });
    expect(parseAmount(held.available) + parseAmount(held.held)).toBe(parseAmount('5'));
    upstream.open();
    await running;
    expect(await get('/credits', other)).toEqual({
      object: 'credits',
      available: (await other.balance()).main,
      held: '0',
      invite: '0',
      refund_pending: '0',
      frozen: false,
    });
  });

  it('explains charges by their request IDs, but only one’s own', async () => {
    const image = await get<Charge>(`/charges/${await send('/v1/images/generations', IMAGE)}`);
    expect(image).toMatchObject({ state: 'settled', model: IMAGE.model, released: '0', refunded: '0' });
    expect(image.charged).toBe(image.settled);
    const { unit_price: unitPrice, units } = image.price!;
    expect(parseAmount(image.held)).toBe(parseAmount(unitPrice!) * BigInt(units));
    expect(image.delivered).toEqual({ units: '2', lines: null });

    const chat = await get<Charge>(`/charges/${await send('/v1/chat/completions', CHAT)}`);
    const lines = chat.delivered!.lines!.map(({ amount }) => parseAmount(amount));
    expect(lines.reduce((sum: bigint, each) => sum + each, 0n)).toBe(parseAmount(chat.charged));
    expect(parseAmount(chat.settled!) + parseAmount(chat.released!)).toBe(parseAmount(chat.held));

    const failed = await send('/v1/images/generations', { ...IMAGE, prompt: '[[fault:reject-400]]' });
    expect(await get(`/charges/${failed}`)).toMatchObject({
      state: 'released',
      charged: '0',
      delivered: null,
    });
    const poor = await relay.customer('0');
    const refused = await send('/v1/images/generations', IMAGE, poor);
    expect(await get(`/charges/${refused}`, poor)).toMatchObject({
      state: 'refused',
      refusal: { code: 'insufficient_user_quota' },
      charged: '0',
    });

    for (const [id, by] of [
      [image.id, poor],
      ['nothing', customer],
      [`${image.id}0`, customer],
    ] as const) {
      const refusal = await refusalOf(get(`/charges/${id}`, by));
      expect(refusal).toBeInstanceOf(OpenAI.NotFoundError);
      expect(refusal).toMatchObject({ code: 'not_found', param: 'id' });
    }
  });

  it('sums up usage by day and model, for the key and the account, before and after charges are added up', async () => {
    const other = await relay.customer('5');
    const sibling = await secondKey(other);
    await send('/v1/images/generations', IMAGE, other);
    await send('/v1/chat/completions', CHAT, other);
    await send('/v1/images/generations', { ...IMAGE, prompt: '[[fault:reject-400]]' }, other);
    const { used } = (await key(other)).spending.total;
    const expectUsage = async () => {
      const usage = await get<Usage>('/usage', other);
      expect(usage.data.map(({ model, requests, failed }) => [model, requests, failed])).toEqual([
        ['vendora-chat', 1, 0],
        ['vendora-imagine-image', 2, 1],
      ]);
      expect(usage).toMatchObject({ scope: 'key', total: { requests: 3, failed: 1, amount: used } });
      expect((await sibling.get<Usage>('/usage')).data).toEqual([]);
      expect((await sibling.get<Usage>('/usage?scope=account')).total).toEqual(usage.total);
    };
    await expectUsage();
    await until('the sums', async () => {
      const { rowCount } = await relay.fixture.owner.query('SELECT FROM usage_days WHERE account_id = $1', [
        other.accountId,
      ]);
      return rowCount === 2;
    });
    await expectUsage();
  });

  it.each([
    ['from=2026-02-30', 'from'],
    ['from=2020-01-01&to=2020-01-02', 'from'],
    ['to=2026-01-01&from=2026-01-02', 'from'],
    ['from=2000-01-01', 'from'],
    ['to=tomorrow', 'to'],
    ['scope=everyone', 'scope'],
  ])('refuses a period that it cannot report, and names the field: %s', async (query, param) => {
    const refusal = await refusalOf(get(`/usage?${query}`));
    expect(refusal).toBeInstanceOf(OpenAI.BadRequestError);
    expect(refusal).toMatchObject({ code: 'invalid_value', param });
  });

  it("answers clients that read OpenAI's old formats", async () => {
    const other = await relay.customer('5');
    await send('/v1/images/generations', IMAGE, other);
    const limit = await get<{ hard_limit_usd: number; access_until: number }>(
      '/dashboard/billing/subscription',
      other,
    );
    const usage = await get<{
      total_usage: number;
      daily_costs: { line_items: { name: string; cost: number }[] }[];
    }>('/dashboard/billing/usage?start_date=2026-1-1&end_date=2199-12-31', other);
    expect(limit).toMatchObject({ object: 'billing_subscription', hard_limit_usd: 5, access_until: 0 });
    // The old formats have JSON numbers: credits, and hundredths of them.
    const [bought, used] = [
      parseAmount(String(limit.hard_limit_usd)),
      parseAmount(String(usage.total_usage)),
    ];
    expect(formatAmount(bought - used / 100n)).toBe((await other.balance()).main);
    expect(usage.daily_costs).toHaveLength(1);
    expect(usage.daily_costs[0]!.line_items).toEqual([{ name: IMAGE.model, cost: usage.total_usage }]);
    await setKey(`expires_at = '2199-01-01'`, other);
    const { access_until: until } = await get<typeof limit>('/dashboard/billing/subscription', other);
    expect(until).toBe(Date.UTC(2199, 0, 1) / 1000);
  });

  it('counts these requests towards the limit per minute', async () => {
    const other = await relay.customer('5');
    await setKey('requests_per_minute = 2', other);
    const answers = await Promise.all(Array.from({ length: 6 }, () => other.send('/v1/key')));
    const refused = answers.filter(({ status }) => status === 429);
    // A minute may end meanwhile, and the next one allows two more.
    expect(refused.length).toBeGreaterThanOrEqual(2);
    expect(await refused[0]!.json()).toMatchObject({ error: { code: 'rate_limit_exceeded' } });
  });
});
