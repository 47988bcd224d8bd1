import { PUBLIC_RELAY, VENDORA_MAIN } from '#groups/group.js';
import type { ModelLimits } from './catalog.js';
import type { Queryable } from './catalog.store.js';

interface SeedModel {
  id: string;
  family: 'image' | 'video';
  price: string;
  groups: string[];
  aliasOf?: string;
  limits: ModelLimits;
}

const IMAGE_LIMITS: ModelLimits = { maxImages: 10 };
const SECONDS = { defaultSeconds: 5, minSeconds: 1, maxSeconds: 15 };
const HD = ['480p', '720p'];
const FULL_HD = ['480p', '720p', '1080p'];

/** The catalog that a new installation starts with: the models of spec 2.5 at example prices in USD. */
const MODELS: SeedModel[] = [
  {
    id: 'vendora-imagine-image',
    family: 'image',
    price: '0.02',
    groups: [VENDORA_MAIN],
    limits: IMAGE_LIMITS,
  },
  {
    id: 'vendora-imagine-edit',
    family: 'image',
    price: '0.02',
    groups: [VENDORA_MAIN],
    limits: IMAGE_LIMITS,
  },
  { id: 'imgmodel-4', family: 'image', price: '0.03', groups: [VENDORA_MAIN], limits: IMAGE_LIMITS },
  { id: 'imgmodel-lite', family: 'image', price: '0.01', groups: [PUBLIC_RELAY], limits: IMAGE_LIMITS },
  {
    id: 'vendora-imagine-video',
    family: 'video',
    price: '0.05',
    groups: [VENDORA_MAIN],
    limits: { ...SECONDS, resolutions: HD },
  },
  {
    id: 'vendora-imagine-video-1.5',
    family: 'video',
    price: '0.05',
    groups: [VENDORA_MAIN],
    limits: { ...SECONDS, resolutions: FULL_HD },
  },
  {
    id: 'vendora-imagine-video-1.5-preview',
    family: 'video',
    price: '0.05',
    groups: [VENDORA_MAIN],
    aliasOf: 'vendora-imagine-video-1.5',
    limits: { ...SECONDS, resolutions: FULL_HD },
  },
  {
    id: 'vidmodel-3',
    family: 'video',
    price: '0.05',
    groups: [VENDORA_MAIN],
    limits: { ...SECONDS, resolutions: FULL_HD },
  },
];

export const SANDBOX_CHANNEL = 'sandbox';

/** Writes the first catalog into an empty database; does nothing to one that has models. Run it in a transaction. */
export async function seedCatalog(database: Queryable): Promise<void> {
  const existing = await database.query('SELECT 1 FROM models LIMIT 1');
  if (existing.rows.length > 0) return;
  for (const group of [VENDORA_MAIN, PUBLIC_RELAY]) {
    await database.query('INSERT INTO groups (name) VALUES ($1)', [group]);
    await database.query('INSERT INTO multiplier_versions (group_name, multiplier) VALUES ($1, 1)', [group]);
  }
  await database.query(
    `INSERT INTO group_rule_versions (group_name, rule, unit_price) VALUES ($1, 'fixed_per_call', 0.0002)`,
    [PUBLIC_RELAY],
  );
  for (const model of MODELS) await seedModel(database, model);
}

async function seedModel(database: Queryable, model: SeedModel): Promise<void> {
  const { id, family, aliasOf = null, limits } = model;
  const unit = family === 'video' ? 'second' : 'call';
  await database.query(
    `INSERT INTO models (id, family, unit, owned_by, alias_of, limits) VALUES ($1, $2, $3, $4, $5, $6)`,
    [id, family, unit, 'vendora', aliasOf, JSON.stringify(limits)],
  );
  if (aliasOf === null) {
    await database.query('INSERT INTO price_versions (model_id, unit_price) VALUES ($1, $2)', [
      id,
      model.price,
    ]);
  }
  for (const group of model.groups) {
    await database.query('INSERT INTO group_models (group_name, model_id) VALUES ($1, $2)', [group, id]);
  }
}

/**
 * Points the sandbox channel at the sandbox upstream, creating it with every model and group on first use. The port
 * may differ at each start, hence the update.
 */
export async function configureSandboxChannel(
  database: Queryable,
  sandbox: { baseUrl: string; apiKey: string },
): Promise<void> {
  await database.query(
    `INSERT INTO channels (id, protocol, base_url, api_key, allow_private_address, honours_idempotency)
     VALUES ($1, 'openai-xai', $2, $3, true, true)
     ON CONFLICT (id) DO UPDATE SET base_url = excluded.base_url, api_key = excluded.api_key
     WHERE (channels.base_url, channels.api_key) IS DISTINCT FROM (excluded.base_url, excluded.api_key)`,
    [SANDBOX_CHANNEL, sandbox.baseUrl, sandbox.apiKey],
  );
  await database.query(
    `INSERT INTO channel_models (channel_id, model_id, upstream_model) SELECT $1, id, coalesce(alias_of, id) FROM models
     ON CONFLICT DO NOTHING`,
    [SANDBOX_CHANNEL],
  );
  await database.query(
    `INSERT INTO channel_groups (channel_id, group_name) SELECT $1, name FROM groups ON CONFLICT DO NOTHING`,
    [SANDBOX_CHANNEL],
  );
}
