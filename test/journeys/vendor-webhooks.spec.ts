import OpenAI from 'openai';
import { validateWebhook } from 'replicate';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WEBHOOK_SECRET } from '#apps/sandbox-upstream/webhooks/task-webhooks.js';
import { addChannels } from '../support/fault-channels.js';
import { closeClean, type Customer, type Relay, startRelay, until } from '../support/relay.js';
import { type Received, startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.js';

/**
 * What a vendor's webhook causes, and what a forged one does not. Polls are an hour apart here, so if a task ends, a
 * webhook caused its poll. The vendor sends to a receiver, and each test forwards what it needs.
 */

const OF_EVERY_END = ['fal', 'replicate', 'openai'];
/** Google announces finished videos only. */
const PROTOCOLS = [...OF_EVERY_END, 'gemini'];
/** How many bad signatures one address may send per minute. The other tests send fewer. */
const FAILED_PER_MINUTE = 60;

let relay: Relay;
let receiver: WebhookReceiver;

beforeAll(async () => {
  receiver = await startWebhookReceiver();
  relay = await startRelay({
    PUBLIC_BASE_URL: receiver.url,
    POLL_INTERVAL_SECONDS: '3600',
    POLL_MAX_SECONDS: '3600',
    FAILED_KEYS_PER_MINUTE: String(FAILED_PER_MINUTE),
  });
  await addChannels(relay);
  await relay.fixture.owner.query(
    `UPDATE channels SET webhook_secret = $1 WHERE id IN ('replicate', 'openai', 'gemini')`,
    [WEBHOOK_SECRET],
  );
  await relay.fixture.owner.query(
    `INSERT INTO channels (id, protocol, base_url, api_key, webhook_secret)
     VALUES ('flooded', 'replicate', $1, 'sandbox-key', $2)`,
    [relay.sandboxUrl, WEBHOOK_SECRET],
  );
  for (const [of, channel] of [
    ['openai', 'openai'],
    ['google', 'gemini'],
  ])
    await fetch(`${relay.sandboxUrl}/_sandbox/webhooks`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ url: `${receiver.url}/vendor-webhooks/${channel}`, of }),
    });
});
afterAll(async () => {
  await closeClean(relay);
  await receiver.close();
});

interface Sent {
  path: string;
  headers: Record<string, string>;
  body: string;
}

/** Forwards a webhook to the gateway, as if the vendor had sent it there. */
async function deliver({ path, headers, body }: Sent): Promise<number> {
  const init = { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body };
  return (await fetch(relay.baseUrl + path, init)).status;
}

/** A webhook that Replicate could have sent. */
function signed(content: object, ageSeconds = 0): Sent {
  const body = JSON.stringify(content);
  const at = new Date(Date.now() - ageSeconds * 1000);
  const headers = {
    'webhook-id': 'msg_1',
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': new Webhook(WEBHOOK_SECRET).sign('msg_1', at, body),
  };
  return { path: '/vendor-webhooks/replicate', headers, body };
}

async function create(customer: Customer, protocol: string, prompt: string) {
  const { videos } = customer.sdk();
  const { id } = await videos.create({ model: `vidmodel-${protocol}`, prompt, seconds: '4' } as never);
  const { rows } = await relay.fixture.owner.query<{ name: string }>(
    `SELECT regexp_replace(upstream_id, '.*/', '') AS name FROM tasks WHERE id = $1`,
    [id],
  );
  return { id, name: rows[0]!.name };
}

/** The webhook that the vendor sends when a task ends. */
function sentAbout(name: string): Promise<Sent> {
  const strip = ({ path, headers, body }: Received): Sent => {
    const own = Object.entries(headers).filter(([header]) => /^(x-fal-webhook|webhook)-/.test(header));
    return { path, headers: Object.fromEntries(own) as Record<string, string>, body };
  };
  return until(`the webhook about ${name}`, async () => {
    const one = receiver.received.find(({ body }) => body.includes(name));
    return one && strip(one);
  });
}

async function rowOf(id: string): Promise<Record<string, unknown>> {
  const { rows } = await relay.fixture.owner.query('SELECT * FROM tasks WHERE id = $1', [id]);
  return rows[0] as Record<string, unknown>;
}

async function chargesOf({ accountId }: Customer): Promise<string[]> {
  const { rows } = await relay.fixture.owner.query<{ state: string }>(
    'SELECT state FROM charges WHERE account_id = $1',
    [accountId],
  );
  return rows.map(({ state }) => state);
}

async function settled(customer: Customer): Promise<{ main: string; held: string }> {
  return until('the settlement', async () => {
    const balance = await customer.balance();
    return balance.held === '0' && balance;
  });
}

describe.each(PROTOCOLS)('a webhook of %s', (protocol) => {
  it('ends its task once; forgeries before it and repeats after it do nothing', async () => {
    const customer = await relay.customer('1');
    const { id, name } = await create(customer, protocol, 'a harbour [[work:0]]');
    const webhook = await sentAbout(name);
    const waiting = await rowOf(id);
    expect(waiting).toMatchObject({ state: 'submitted', poll_attempts: 0 });
    const forgeries: Sent[] = [
      { ...webhook, headers: {} },
      { ...webhook, body: webhook.body.replace('{', '{"more":1,') },
      { ...webhook, path: webhook.path.replace(protocol, 'nowhere') },
      { ...webhook, path: webhook.path.replace(protocol, protocol === 'fal' ? 'openai' : 'fal') },
    ];
    for (const forgery of forgeries) expect(await deliver(forgery)).toBe(400);
    expect(await rowOf(id)).toEqual(waiting);

    expect(await deliver(webhook)).toBe(204);
    await until('the end', async () => (await customer.sdk().videos.retrieve(id)).status === 'completed');
    expect(await settled(customer)).toEqual({ main: '0.8', held: '0' });
    const ended = await rowOf(id);
    expect(ended).toMatchObject({ poll_attempts: 1 });
    for (let times = 0; times < 3; times += 1) expect(await deliver(webhook)).toBe(204);
    expect(await rowOf(id)).toEqual(ended);
    expect(await chargesOf(customer)).toEqual(['settled']);
  });
});

describe.each(OF_EVERY_END)('a webhook of %s', (protocol) => {
  it('about a failure refunds the credits', async () => {
    const customer = await relay.customer('1');
    const { id, name } = await create(customer, protocol, 'a harbour [[fault:fail-late]] [[work:0]]');
    expect(await deliver(await sentAbout(name))).toBe(204);
    await until('the end', async () => (await customer.sdk().videos.retrieve(id)).status === 'failed');
    expect(await settled(customer)).toEqual({ main: '1', held: '0' });
    expect(await chargesOf(customer)).toEqual(['released']);
  });
});

describe('a signed webhook', () => {
  it('decides nothing: a running task is polled, and continues', async () => {
    const customer = await relay.customer('1');
    const { id, name } = await create(customer, 'replicate', 'a harbour [[work:3600]]');
    const content = { id: name, status: 'succeeded', output: 'https://files.example/other.mp4' };
    for (const polls of [1, 2]) {
      expect(await deliver(signed(content))).toBe(204);
      const polled = await until('the poll', async () => {
        const row = await rowOf(id);
        return row['poll_attempts'] === polls && row['lease_token'] === null && row;
      });
      expect(polled).toMatchObject({ state: 'submitted' });
    }
    expect(await customer.balance()).toEqual({ main: '0.8', held: '0.2' });
  });

  it('changes nothing if it is old, early, or about something unknown', async () => {
    const customer = await relay.customer('1');
    const { id, name } = await create(customer, 'replicate', 'a harbour [[work:3600]]');
    const waiting = await rowOf(id);
    for (const ageSeconds of [600, -600]) expect(await deliver(signed({ id: name }, ageSeconds))).toBe(400);
    for (const content of [{ id: 'nothing' }, { id: `${name}\0` }, { id: 7 }, {}])
      expect(await deliver(signed(content))).toBe(204);
    const elsewhere = { ...signed({ data: { id: name } }), path: '/vendor-webhooks/openai' };
    expect(await deliver(elsewhere)).toBe(204);
    expect(await rowOf(id)).toEqual(waiting);
  });

  it('is postponed if its channel has had too many in this minute', async () => {
    await relay.fixture.owner.query(
      `INSERT INTO request_allowances (subject, minute, taken)
       SELECT 'webhooks of channel flooded', floor(extract(epoch FROM now()) / 60) + ahead, 1000000
       FROM generate_series(0, 60) AS ahead`,
    );
    const toFlooded = (content: object) => ({ ...signed(content), path: '/vendor-webhooks/flooded' });
    expect(await deliver(toFlooded({ id: 'nothing' }))).toBe(429);
    expect(await deliver(toFlooded({}))).toBe(204);
  });

  it('is rejected unread if it is too large, or not JSON', async () => {
    expect(await deliver(signed({ id: 'a', logs: 'x'.repeat(64 * 1024) }))).toBe(413);
    expect(await deliver({ ...signed({}), body: 'no JSON' })).toBe(400);
  });
});

it('is accepted by the vendors’ own clients', async () => {
  const customer = await relay.customer('1');
  const { headers: sent, body: text } = await sentAbout(
    (await create(customer, 'replicate', '[[work:0]]')).name,
  );
  const ofReplicate = {
    id: sent['webhook-id']!,
    timestamp: sent['webhook-timestamp']!,
    signature: sent['webhook-signature']!,
    body: text,
    secret: WEBHOOK_SECRET,
  };
  expect(await validateWebhook(ofReplicate)).toBe(true);
  const { name } = await create(customer, 'openai', '[[work:0]]');
  const { headers, body } = await sentAbout(name);
  const { webhooks } = new OpenAI({ apiKey: 'none', webhookSecret: WEBHOOK_SECRET });
  expect(await webhooks.unwrap(body, headers)).toMatchObject({ type: 'video.completed', data: { id: name } });
});

it('is refused from an address that has sent too many bad signatures', async () => {
  const forged = { ...signed({}), headers: {} };
  let last = 400;
  for (let times = 0; last === 400 && times <= 2 * FAILED_PER_MINUTE; times += 1)
    last = await deliver(forged);
  expect(last).toBe(429);
});
