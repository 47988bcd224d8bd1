import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newWebhookSecret } from '#platform/http/webhook-signature.js';
import { newId } from '#platform/ids.js';
import { admin, type CatalogFixture, openCatalog } from '../../../test/support/catalog.js';

let catalog: CatalogFixture;

beforeAll(async () => {
  catalog = await openCatalog();
});
afterAll(() => catalog.close());

/** What a change leaves behind: audit log entries, messages to the gateways, and versions of the catalog. */
async function traces() {
  const { rows } = await catalog.ledger.owner.query(
    `SELECT (SELECT count(*) FROM audit_log) AS logged, (SELECT revision FROM catalog_revision) AS revision,
       (SELECT count(*) FROM outbox WHERE topic = 'catalog.changed') AS announced`,
  );
  return rows[0] as unknown;
}

/** Makes a thing and returns the change that it is then to be unaffected by. */
const KINDS = {
  model: async () => {
    const own = { ownedBy: 'vendorb', enabled: true, limits: { maxImages: 4 } };
    const groups = ['Vendora-Main'];
    const { model } = await catalog.models.create({ id: newId(), family: 'image', groups, ...own }, admin());
    return () => catalog.models.change(model.id, { ...own, routing: 'priority' }, admin());
  },
  group: async () => {
    const name = `Group-${newId()}`;
    const rules = { open: false, requestsPerMinute: 60 };
    const terms = { multiplier: '1', fixedPerCall: null, models: [] };
    await catalog.groups.create({ name, ...rules, ...terms }, admin());
    return () => catalog.groups.change(name, rules, admin());
  },
  'list of models of a group': async () => {
    const name = `Group-${newId()}`;
    const models = ['imgmodel-lite', 'imgmodel-4'];
    await catalog.groups.create({ name, multiplier: '1', fixedPerCall: null, models }, admin());
    return () => catalog.groupModels.set(name, { models }, admin());
  },
  channel: async () => {
    const id = `channel-${newId()}`;
    const settings = {
      baseUrl: 'https://api.example.com/v1',
      apiKeys: ['one-key', 'another-key'],
      webhookSecret: newWebhookSecret(),
      weight: 3,
      models: { 'imgmodel-lite': 'lite', 'imgmodel-4': 'four' },
      groups: ['Vendora-Main', 'Public-Relay'],
    };
    await catalog.channels.create({ id, protocol: 'openai-xai', ...settings }, admin());
    return () => catalog.channels.change(id, settings, admin());
  },
};

describe('a change that leaves everything as it is', () => {
  it.each(Object.keys(KINDS) as (keyof typeof KINDS)[])(
    'of a %s is neither logged nor announced',
    async (kind) => {
      const changeNothing = await KINDS[kind]();
      const before = await traces();
      await changeNothing();
      expect(await traces()).toEqual(before);
    },
  );
});
