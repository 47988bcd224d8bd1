import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Secret, TOTP } from 'otpauth';
import { Webhook } from 'standardwebhooks';
import { resealSecrets } from '#operations/reseal.js';
import { PasswordHasher } from '#identity/password.hasher.js';
import { newWebhookSecret } from '#platform/http/webhook-signature.js';
import { placeOf, SecretBox } from '#platform/sealed-secret.js';
import { type Person, person } from '../support/console.js';
import { json, type Relay, startRelay, until } from '../support/relay.js';
import { startWebhookReceiver, type WebhookReceiver } from '../support/webhook-receiver.js';

const PASSWORD = 'a long enough password';
const UPSTREAM_KEY = `sk-upstream-${randomBytes(16).toString('hex')}`;
const VENDOR_SECRET = newWebhookSecret();
const [oldKey, newKey] = [randomBytes(32), randomBytes(32)];

let relay: Relay;
let receiver: WebhookReceiver;
let admin: Person;
let owner: Person;
let webhook: { id: string; secret: string };
let totpSecret: string;

/** Both keys are known from the start, as during a key change. */
beforeAll(async () => {
  relay = await startRelay({
    SECRETS_KEY: `${oldKey.toString('base64')},${newKey.toString('base64')}`,
    WEBHOOK_ALLOW_PRIVATE: 'true',
    WEBHOOK_POLL_SECONDS: '0.05',
    CATALOG_LIFE_SECONDS: '0',
  });
  receiver = await startWebhookReceiver();
  admin = await person(relay, { roles: ['admin'] });
  owner = await person(relay);
  const hash = await new PasswordHasher().hash(PASSWORD, owner);
  await relay.fixture.billing.query('UPDATE users SET password_hash = $2 WHERE id = $1', [
    owner.userId,
    hash,
  ]);
  const kept = channel('kept', [UPSTREAM_KEY, 'sandbox-key']);
  await admin.api.POST('/api/admin/channels', { body: { ...kept, webhookSecret: VENDOR_SECRET } });
  const url = `${receiver.url}/kept`;
  webhook = (await owner.api.POST('/api/webhooks', { body: { url, events: ['topup.credited'] } })).data!;
  const enrolment = await owner.api.POST('/api/totp/enrolment', { body: { password: PASSWORD } });
  totpSecret = enrolment.data!.secret;
});
afterAll(async () => {
  await relay?.close();
  await receiver?.close();
});

function channel(id: string, apiKeys: string[]) {
  const models = { 'imgmodel-4': 'imgmodel-4' };
  const fields = { protocol: 'openai-xai' as const, baseUrl: relay.sandboxUrl, allowPrivateAddress: true };
  return { id, ...fields, apiKeys, priority: -1, models, groups: ['Vendora-Main'] };
}

/** Everything in the database, one line per row. */
async function dump(): Promise<string> {
  const { owner: database } = relay.fixture;
  const { rows } = await database.query<{ name: string }>(
    `SELECT oid::regclass::text AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'`,
  );
  const tables = await Promise.all(
    rows.map(({ name }) => database.query<{ line: string }>(`SELECT t::text AS line FROM ${name} AS t`)),
  );
  return tables.flatMap((table) => table.rows.map(({ line }) => line)).join('\n');
}

const code = () =>
  new TOTP({ secret: Secret.fromBase32(totpSecret), issuer: 'Tollgate', label: '' }).generate();

const secretsInUse = () => [
  UPSTREAM_KEY,
  'sandbox-key',
  ...[VENDOR_SECRET, webhook.secret].flatMap((secret) => [secret, secret.slice(6)]),
  totpSecret,
];

async function sealedBy(key: Buffer): Promise<number> {
  const text = await dump();
  return text.split(new SecretBox([key]).currentPrefix()).length - 1;
}

async function deliver(): Promise<void> {
  const before = receiver.at('/kept').length;
  await owner.api.POST('/api/webhooks/{endpointId}/pings', { params: { path: { endpointId: webhook.id } } });
  await until('the ping', async () => receiver.at('/kept').length > before);
  const { body, headers } = receiver.at('/kept').at(-1)!;
  new Webhook(webhook.secret).verify(body, headers as Record<string, string>);
}

async function testChannel(id: string) {
  const { data } = await admin.api.POST('/api/admin/channels/{channelId}/tests', {
    params: { path: { channelId: id } },
  });
  return data?.trials.map(({ verdict }) => verdict);
}

describe('a copy of the database', () => {
  it('shows no channel key, no webhook secret and no secret of one-time codes', async () => {
    const text = await dump();
    expect(text).toContain(webhook.id);
    for (const secret of secretsInUse()) expect(text).not.toContain(secret);
  });

  it('shows none after they were used, and neither does the log', async () => {
    const customer = await relay.customer('1');
    const image = json({ model: 'imgmodel-4', prompt: 'a lighthouse [[instant]]' });
    expect((await customer.send('/v1/images/generations', image)).status).toBe(200);
    await deliver();
    expect(await testChannel('kept')).toEqual(['failed', 'ok']);
    const { data } = await owner.api.POST('/api/totp/confirm', { body: { code: code() } });
    expect(data).toBeDefined();
    const text = (await dump()) + relay.logged();
    for (const secret of secretsInUse()) expect(text).not.toContain(secret);
  });
});

describe('a sealed secret that was copied to another row', () => {
  it('is useless there, and affects nothing else', async () => {
    await admin.api.POST('/api/admin/channels', { body: channel('thief', ['sk-of-the-thief']) });
    await relay.fixture.billing.query(
      `UPDATE channels SET api_key = (SELECT api_key FROM channels WHERE id = 'kept') WHERE id = 'thief'`,
    );
    const { data } = await admin.api.GET('/api/admin/channels/{channelId}', {
      params: { path: { channelId: 'thief' } },
    });
    expect(data?.keyMarks).toEqual(['unreadable']);
    const customer = await relay.customer('1');
    const image = json({ model: 'imgmodel-4', prompt: 'a lighthouse [[instant]]' });
    expect((await customer.send('/v1/images/generations', image)).status).toBe(200);
    expect(relay.logged()).toContain('a channel is skipped: its keys cannot be decrypted');
    await relay.fixture.owner.query(`DELETE FROM channel_models WHERE channel_id = 'thief'`);
    await relay.fixture.owner.query(`DELETE FROM channel_groups WHERE channel_id = 'thief'`);
    await relay.fixture.owner.query(`DELETE FROM channels WHERE id = 'thief'`);
  });
});

describe('changing the key', () => {
  const both = new SecretBox([newKey, oldKey]);

  it('seals everything again while programs use it, even if two people do it at once', async () => {
    await relay.fixture.owner.query(
      `UPDATE channels SET api_key = 'a plain one of before' WHERE id = 'sandbox-mesh3d'`,
    );
    expect(await sealedBy(newKey)).toBe(0);
    const rotations = [1, 2].map(() => resealSecrets(relay.fixture.billing, both));
    const [, ...done] = await Promise.all([deliver(), ...rotations]);
    expect(done.flatMap(({ unreadable }) => unreadable)).toEqual([]);
    expect(await sealedBy(oldKey)).toBe(0);
    expect(await dump()).not.toContain('a plain one of before');
    await deliver();
    expect(await testChannel('kept')).toEqual(['failed', 'ok']);
    const nothing = { channels: 0, webhooks: 0, oneTimeCodes: 0, unreadable: [] };
    expect(await resealSecrets(relay.fixture.billing, both)).toEqual(nothing);
  });

  it('leaves unchanged what no key opens, names it, and seals the rest of its row', async () => {
    const place = placeOf.channel('kept');
    const lost = new SecretBox([randomBytes(32)]).seal(VENDOR_SECRET, place);
    const old = new SecretBox([oldKey]).seal(UPSTREAM_KEY, place);
    const set = `UPDATE channels SET webhook_secret = $1, api_key = $2 WHERE id = 'kept'`;
    const read = async () => {
      const { rows } = await relay.fixture.owner.query<{ secret: string; key: string }>(
        `SELECT webhook_secret AS secret, api_key AS key FROM channels WHERE id = 'kept'`,
      );
      return rows[0]!;
    };
    const before = await read();
    await relay.fixture.owner.query(set, [lost, old]);
    const { unreadable } = await resealSecrets(relay.fixture.billing, both);
    expect(unreadable).toEqual([expect.stringMatching(/lacks the key [0-9a-f]{8}.*channels\/kept/)]);
    const { secret, key } = await read();
    expect([secret, both.isCurrent(key), both.open(key, place)]).toEqual([lost, true, UPSTREAM_KEY]);
    await relay.fixture.owner.query(set, [before.secret, before.key]);
  });
});

it('keeps each secret readable for the roles that need it', async () => {
  const { rows } = await relay.fixture.owner.query<{ place: string; role: string }>(
    `SELECT place, role FROM unnest('{channels.api_key,channels.further_api_keys,channels.webhook_secret,users.totp_secret,users.password_hash,
        webhook_endpoints.secret,webhook_endpoints.previous_secret}'::text[]) AS place,
      unnest('{gateway,worker,billing}'::text[]) AS role
     WHERE has_column_privilege('tollgate_' || role, split_part(place, '.', 1), split_part(place, '.', 2), 'SELECT')
     ORDER BY 1, 2`,
  );
  expect(rows.map(({ place, role }) => `${place} ${role}`)).toEqual([
    ...['billing', 'gateway', 'worker'].map((role) => `channels.api_key ${role}`),
    ...['billing', 'gateway', 'worker'].map((role) => `channels.further_api_keys ${role}`),
    ...['billing', 'gateway', 'worker'].map((role) => `channels.webhook_secret ${role}`),
    ...['password_hash', 'totp_secret'].map((column) => `users.${column} billing`),
    ...['previous_secret', 'secret'].map((column) => `webhook_endpoints.${column} billing`),
  ]);
});
