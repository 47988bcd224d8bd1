import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { generateKeyPairSync } from 'node:crypto';
import { keyMark } from '#catalog/catalog.js';
import { newWebhookSecret } from '#platform/http/webhook-signature.js';
import { newId } from '#platform/ids.js';
import { placeOf } from '#platform/sealed-secret.js';
import { auditOf } from '../../../test/support/audit.js';
import { admin, type CatalogFixture, openCatalog } from '../../../test/support/catalog.js';
import { race } from '../../../test/support/race.js';
import type { ChannelChange, NewChannel } from './channel.service.js';

const [KEY, SECOND] = ['sk-upstream-one', 'sk-upstream-two'];

let catalog: CatalogFixture;

beforeAll(async () => {
  catalog = await openCatalog();
});
afterAll(() => catalog.close());

function newChannel(of: Partial<NewChannel> = {}): NewChannel {
  const id = `channel-${newId()}`;
  return { id, protocol: 'openai-xai', baseUrl: 'https://api.example.com/v1/', apiKeys: [KEY], ...of };
}

async function created(of: Partial<NewChannel> = {}): Promise<string> {
  return (await catalog.channels.create(newChannel(of), admin())).id;
}

function change(id: string, wanted: ChannelChange) {
  return catalog.channels.change(id, wanted, admin());
}

async function storedKeys(id: string): Promise<string[]> {
  const { rows } = await catalog.ledger.owner.query<{ keys: string[] }>(
    'SELECT array_prepend(api_key, further_api_keys) AS keys FROM channels WHERE id = $1',
    [id],
  );
  return rows[0]!.keys;
}

const marks = (...keys: string[]) => keys.map((apiKey) => keyMark({ apiKey }));
const invalid = (param: string) => ({ code: 'invalid_value', param });

describe('a new channel', () => {
  it('is created once, even if two create it at once, with defaults for whatever is omitted', async () => {
    const wanted = newChannel({ models: { 'imgmodel-4': 'theirs' }, groups: ['Vendora-Main'] });
    const both = [1, 2].map(() => catalog.channels.create(wanted, admin()));
    expect(await race(both)).toEqual({ succeeded: 1, refused: ['conflict'] });
    expect(await catalog.channels.find(wanted.id)).toMatchObject({
      baseUrl: 'https://api.example.com/v1',
      enabled: true,
      priority: 0,
      weight: 1,
      requestTimeoutMs: 120_000,
      maxConcurrency: null,
      models: { 'imgmodel-4': 'theirs' },
      groups: ['Vendora-Main'],
    });
  });

  it('shows only a mark of its keys, and is stored and logged without them', async () => {
    const id = await created({ apiKeys: [KEY, SECOND] });
    const shown = await catalog.channels.find(id);
    expect(shown.keyMarks).toEqual(marks(KEY, SECOND));
    expect(shown).not.toHaveProperty('apiKey');
    const written = JSON.stringify([
      shown,
      await storedKeys(id),
      await auditOf(catalog.ledger, `channel:${id}`),
    ]);
    for (const key of [KEY, SECOND]) expect(written).not.toContain(key);
  });

  it('keeps its vendor’s webhook secret sealed, shows a mark of it, and can forget it', async () => {
    const secret = newWebhookSecret();
    const id = await created({ protocol: 'replicate', webhookSecret: secret });
    const stored = async () => {
      const { rows } = await catalog.ledger.owner.query<{ secret: string | null }>(
        'SELECT webhook_secret AS secret FROM channels WHERE id = $1',
        [id],
      );
      return rows[0]!.secret;
    };
    const sealed = await stored();
    expect(catalog.secrets.open(sealed!, placeOf.channel(id))).toBe(secret);
    const shown = await change(id, { weight: 2 });
    expect(shown).toMatchObject({ webhookSecretMark: marks(secret)[0] });
    const written = JSON.stringify([shown, sealed, await auditOf(catalog.ledger, `channel:${id}`)]);
    expect(written).not.toContain(secret);
    const next = newWebhookSecret();
    await change(id, { webhookSecret: next });
    expect((await auditOf(catalog.ledger, `channel:${id}`)).at(-1)).toMatchObject({
      before: { webhookSecretMark: marks(secret)[0] },
      after: { webhookSecretMark: marks(next)[0] },
    });
    expect(await change(id, { webhookSecret: null })).toMatchObject({ webhookSecretMark: null });
    expect(await stored()).toBeNull();
    for (const webhookSecret of ['', 'whsec_', secret.slice(6), `${secret} `])
      await expect(change(id, { webhookSecret })).rejects.toMatchObject(invalid('webhookSecret'));
  });

  it('to Vertex AI keeps what it needs from a service account, sealed, and accepts no other key', async () => {
    const pem = generateKeyPairSync('rsa', { modulusLength: 2048 })
      .privateKey.export({ type: 'pkcs8', format: 'pem' })
      .toString();
    const account = { project_id: 'their-project', client_email: 'a@b', private_key: pem };
    const pretty = JSON.stringify({ ...account, client_id: '7' }, null, 2);
    const id = await created({ protocol: 'vertex', apiKeys: [pretty] });
    const written = JSON.stringify([
      await catalog.channels.find(id),
      await storedKeys(id),
      await auditOf(catalog.ledger, `channel:${id}`),
    ]);
    expect(written).not.toMatch(/PRIVATE|a@b/);
    const { rows } = await catalog.ledger.owner.query<{ key: string }>(
      'SELECT api_key AS key FROM channels WHERE id = $1',
      [id],
    );
    const open = catalog.secrets.open(rows[0]!.key, placeOf.channel(id));
    expect(JSON.parse(open)).toEqual({ type: 'service_account', ...account });
    const wrong = [
      { protocol: 'vertex' as const, apiKeys: [KEY] },
      { protocol: 'vertex' as const, apiKeys: [pretty, JSON.stringify({ ...account, private_key: 'x' })] },
      { apiKeys: [pretty] },
    ];
    for (const of of wrong) await expect(created(of)).rejects.toMatchObject(invalid('apiKeys'));
    await expect(change(id, { apiKeys: [KEY] })).rejects.toMatchObject(invalid('apiKeys'));
  });

  it('says so if nothing opens its keys, and can still be shown', async () => {
    const id = await created();
    await catalog.ledger.owner.query(
      'UPDATE channels SET api_key = (SELECT api_key FROM channels WHERE id = $2) WHERE id = $1',
      [id, await created()],
    );
    expect((await catalog.channels.find(id)).keyMarks).toEqual(['unreadable']);
  });

  it.each([
    'api.example.com',
    'ftp://api.example.com',
    'http://api.example.com',
    'https://user:word@api.example.com',
    'https://api.example.com/?key=1',
    'https://api.example.com/#part',
    'https://localhost',
    'https://metadata.internal',
    'https://127.0.0.1',
    'https://10.1.2.3',
    'https://169.254.169.254',
    'https://[::1]',
    'https://[::ffff:10.0.0.1]',
    'https://2130706433',
  ])('does not call %s', async (baseUrl) => {
    await expect(created({ baseUrl })).rejects.toMatchObject(invalid('baseUrl'));
  });

  it('calls one’s own address if that is allowed, but never with a name and password in it', async () => {
    const own = { allowPrivateAddress: true };
    const id = await created({ ...own, baseUrl: 'http://10.1.2.3:8080' });
    expect(await catalog.channels.find(id)).toMatchObject({ baseUrl: 'http://10.1.2.3:8080' });
    const named = created({ ...own, baseUrl: 'http://user:word@10.1.2.3' });
    await expect(named).rejects.toMatchObject(invalid('baseUrl'));
    // Withdrawing the permission checks the address again.
    await expect(change(id, { allowPrivateAddress: false })).rejects.toMatchObject(invalid('baseUrl'));
  });

  it('is not created with models or groups that do not exist', async () => {
    const wanted = newChannel({ models: { none: 'theirs' } });
    await expect(catalog.channels.create(wanted, admin())).rejects.toMatchObject(invalid('models'));
    await expect(created({ groups: ['none'] })).rejects.toMatchObject(invalid('groups'));
    await expect(catalog.channels.find(wanted.id)).rejects.toMatchObject({ code: 'not_found' });
  });
});

describe('a change of a channel', () => {
  it('sets what is named, even if two change it at once, and keeps the keys', async () => {
    const id = await created({ models: { 'imgmodel-4': 'a', 'imgmodel-lite': 'b' } });
    const before = await storedKeys(id);
    await Promise.all([change(id, { priority: 7 }), change(id, { enabled: false })]);
    const now = await change(id, { models: { 'imgmodel-4': 'c' }, groups: ['Public-Relay'] });
    expect(now).toMatchObject({ priority: 7, enabled: false, groups: ['Public-Relay'] });
    expect(now.models).toEqual({ 'imgmodel-4': 'c' });
    expect(await storedKeys(id)).toEqual(before);
    const [last] = (await auditOf(catalog.ledger, `channel:${id}`)).slice(-1);
    expect(last).toMatchObject({
      action: 'channel.changed',
      before: { models: { 'imgmodel-4': 'a', 'imgmodel-lite': 'b' }, groups: [] },
      after: { models: { 'imgmodel-4': 'c' }, groups: ['Public-Relay'] },
    });
  });

  it('sends the existing keys to no other origin', async () => {
    const id = await created();
    for (const baseUrl of ['https://api.example.org/v1', 'https://api.example.com:8443/v1'])
      await expect(change(id, { baseUrl })).rejects.toMatchObject(invalid('apiKeys'));
    expect(await change(id, { baseUrl: 'https://api.example.com/v2' })).toMatchObject({
      baseUrl: 'https://api.example.com/v2',
      keyMarks: marks(KEY),
    });
    const moved = await change(id, { baseUrl: 'https://api.example.org', apiKeys: [SECOND] });
    expect(moved.keyMarks).toEqual(marks(SECOND));
  });

  it('is made once if two make it from the same state, and others keep to their fields', async () => {
    const id = await created({ models: { 'imgmodel-4': 'theirs' }, groups: ['Vendora-Main'] });
    const was = { models: { 'imgmodel-4': 'theirs' } };
    const both = ['imgmodel-4', 'imgmodel-lite'].map((model) =>
      change(id, { models: { [model]: 'lite' }, was }),
    );
    expect(await race(both)).toEqual({ succeeded: 1, refused: ['conflict'] });
    // The second time is a repeat after a lost answer, in another order.
    for (const groups of [['Public-Relay', 'Vendora-Main'], ['Vendora-Main', 'Public-Relay'], []])
      await change(id, {
        groups,
        was: { groups: groups.length > 0 ? ['Vendora-Main'] : ['Vendora-Main', 'Public-Relay'] },
      });
    expect(await catalog.channels.find(id)).toMatchObject({ groups: [] });
  });

  it('changes nothing if it is refused, and notifies no gateway', async () => {
    const id = await created();
    const before = await catalog.announced();
    await expect(change(id, { enabled: false, groups: ['none'] })).rejects.toMatchObject(invalid('groups'));
    await expect(change('none', {})).rejects.toMatchObject({ code: 'not_found' });
    expect(await catalog.channels.find(id)).toMatchObject({ enabled: true });
    expect(await catalog.announced()).toBe(before);
  });
});

describe('in a database of another collation', () => {
  beforeAll(() =>
    catalog.ledger.owner.query(
      'ALTER TABLE channel_groups ALTER COLUMN group_name TYPE text COLLATE "en-x-icu"',
    ),
  );

  it('a change that names the same groups is none', async () => {
    const name = `a-${newId()}`;
    await catalog.groups.create({ name, multiplier: '1', fixedPerCall: null, models: [] }, admin());
    const groups = ['Vendora-Main', name];
    const id = await created({ groups });
    const before = await catalog.announced();
    await change(id, { groups });
    expect(await catalog.announced()).toBe(before);
    expect(await auditOf(catalog.ledger, `channel:${id}`)).toHaveLength(1);
  });
});

describe('the list of channels', () => {
  it('is ordered by ID, in pages of any size', async () => {
    const all = await catalog.channels.list({ limit: 500, after: '' });
    const paged = [];
    for (let after = ''; ;) {
      const page = await catalog.channels.list({ limit: 2, after });
      paged.push(...page);
      if (page.length < 2) break;
      after = page.at(-1)!.id;
    }
    expect(paged).toEqual(all);
    expect(all.map(({ id }) => id)).toEqual(all.map(({ id }) => id).sort());
  });
});
