import { placeOf, type SecretBox } from '#platform/sealed-secret.js';
import { PUBLIC_RELAY, VENDORA, VENDORA_MAIN } from '#groups/group.js';
import type { Family } from '#pricing/price-book.js';
import type { ModelLimits } from './catalog.js';
import type { Queryable } from './catalog.store.js';

interface SeedModel {
  id: string;
  family: Family;
  /** USD for a call or a second, or for a million tokens of each kind. */
  price: string | { input: string; cachedInput: string; output: string };
  groups: string[];
  /** `vendora`, unless it says. */
  ownedBy?: string;
  aliasOf?: string;
  limits: ModelLimits;
  /** How the sandbox upstream offers it, if not like most. */
  protocol?: string;
}

const IMAGE_LIMITS: ModelLimits = { maxImages: 10 };
const SECONDS = { defaultSeconds: 5, minSeconds: 1, maxSeconds: 15 };
const HD = ['480p', '720p'];
const FULL_HD = ['480p', '720p', '1080p'];
/** Whose models native paths name; those of Vendora are for Vendora-Main alone. */
const OTHER_VENDOR = 'vendorb';

/** The catalog that a new installation starts with: models at example prices in USD. */
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
    limits: { ...IMAGE_LIMITS, minInputImages: 1 },
  },
  {
    id: 'imgmodel-4',
    family: 'image',
    ownedBy: OTHER_VENDOR,
    price: '0.03',
    groups: [VENDORA_MAIN],
    limits: IMAGE_LIMITS,
  },
  {
    id: 'imgmodel-lite',
    family: 'image',
    ownedBy: OTHER_VENDOR,
    price: '0.01',
    groups: [PUBLIC_RELAY],
    limits: IMAGE_LIMITS,
  },
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
    ownedBy: OTHER_VENDOR,
    price: '0.05',
    groups: [VENDORA_MAIN],
    limits: { ...SECONDS, resolutions: FULL_HD, aspectRatios: ['16:9', '9:16'] },
  },
  {
    id: 'vendora-chat',
    family: 'chat',
    price: { input: '2.5', cachedInput: '1.25', output: '10' },
    groups: [VENDORA_MAIN],
    limits: { maxInputTokens: 128_000, maxOutputTokens: 4_096 },
  },
  {
    id: 'vendora-messages',
    family: 'chat',
    price: { input: '3', cachedInput: '0.3', output: '15' },
    groups: [VENDORA_MAIN],
    limits: { maxInputTokens: 200_000, maxOutputTokens: 8_192 },
    protocol: 'anthropic',
  },
  {
    id: 'chatmodel-2',
    family: 'chat',
    ownedBy: OTHER_VENDOR,
    price: { input: '0.3', cachedInput: '0.075', output: '2.5' },
    groups: [VENDORA_MAIN],
    limits: { maxInputTokens: 128_000, maxOutputTokens: 8_192 },
    protocol: 'gemini',
  },
  {
    id: 'vendora-chat-lite',
    family: 'chat',
    price: '0.001',
    groups: [PUBLIC_RELAY],
    limits: { maxInputTokens: 32_000, maxOutputTokens: 2_048 },
  },
  { id: 'vendora-speech', family: 'speech', price: '0.015', groups: [VENDORA_MAIN], limits: {} },
  { id: 'vendora-3d', family: '3d', price: '0.1', groups: [VENDORA_MAIN], limits: {}, protocol: 'mesh3d' },
];

const SANDBOX_CHANNEL = 'sandbox';

/** Writes the first catalog into an empty database; does nothing to one that has models. Run it in a transaction. */
export async function seedCatalog(database: Queryable): Promise<void> {
  const existing = await database.query('SELECT 1 FROM models LIMIT 1');
  if (existing.rows.length > 0) return;
  for (const group of [VENDORA_MAIN, PUBLIC_RELAY]) {
    await database.query('INSERT INTO groups (name, open) VALUES ($1, true)', [group]);
    await database.query('INSERT INTO multiplier_versions (group_name, multiplier) VALUES ($1, 1)', [group]);
  }
  await database.query(
    `INSERT INTO group_rule_versions (group_name, rule, unit_price) VALUES ($1, 'fixed_per_call', 0.0002)`,
    [PUBLIC_RELAY],
  );
  for (const model of MODELS) await seedModel(database, model);
}

async function seedModel(database: Queryable, model: SeedModel): Promise<void> {
  const { id, family, aliasOf = null, limits, price } = model;
  const unit = family === 'video' ? 'second' : typeof price === 'string' ? 'call' : 'token';
  await database.query(
    `INSERT INTO models (id, family, unit, owned_by, alias_of, limits) VALUES ($1, $2, $3, $4, $5, $6)`,
    [id, family, unit, model.ownedBy ?? VENDORA, aliasOf, JSON.stringify(limits)],
  );
  if (aliasOf === null) await seedPrice(database, id, price);
  for (const group of model.groups) {
    await database.query('INSERT INTO group_models (group_name, model_id) VALUES ($1, $2)', [group, id]);
  }
}

async function seedPrice(database: Queryable, model: string, price: SeedModel['price']): Promise<void> {
  if (typeof price === 'string') {
    await database.query('INSERT INTO price_versions (model_id, unit_price) VALUES ($1, $2)', [model, price]);
    return;
  }
  await database.query(
    `INSERT INTO price_versions (model_id, input_price, cached_input_price, output_price) VALUES ($1, $2, $3, $4)`,
    [model, price.input, price.cachedInput, price.output],
  );
}

/**
 * Points the sandbox channels at the sandbox upstream, one for each protocol that a model needs, creating them with
 * their models and every group on first use. The port may differ at each start, hence the update.
 */
export async function configureSandboxChannel(
  database: Queryable,
  sandbox: { baseUrl: string; apiKey: string },
  secrets?: SecretBox,
): Promise<void> {
  const others = MODELS.filter((model) => model.protocol !== undefined);
  const modelsOf = (protocol: string) =>
    others.filter((model) => model.protocol === protocol).map(({ id }) => id);
  const sealed = (id: string) => ({
    ...sandbox,
    apiKey: secrets?.seal(sandbox.apiKey, placeOf.channel(id)) ?? sandbox.apiKey,
  });
  await configureChannel(database, sealed(SANDBOX_CHANNEL), { id: SANDBOX_CHANNEL, protocol: 'openai-xai' });
  await database.query(
    `INSERT INTO channel_models (channel_id, model_id, upstream_model)
     SELECT $1, id, coalesce(alias_of, id) FROM models WHERE family <> '3d' AND id <> ALL ($2) ON CONFLICT DO NOTHING`,
    [SANDBOX_CHANNEL, others.map(({ id }) => id)],
  );
  for (const protocol of new Set(others.map((model) => model.protocol ?? 'openai-xai'))) {
    const id = `${SANDBOX_CHANNEL}-${protocol}`;
    await configureChannel(database, sealed(id), { id, protocol });
    await database.query(
      `INSERT INTO channel_models (channel_id, model_id, upstream_model)
       SELECT $1, id, coalesce(alias_of, id) FROM models WHERE id = ANY ($2) ON CONFLICT DO NOTHING`,
      [id, modelsOf(protocol)],
    );
  }
}

/** What the sandbox channels are said to take, of each model's first price; less where groups pay a fixed price for a call. */
const SANDBOX_COST_SHARE = '0.6';
const SANDBOX_COST_OF_FIXED = '0.00012';

/** Gives the sandbox channels example costs for models that have none there, so that margins show something. */
export async function seedSandboxCosts(database: Queryable): Promise<void> {
  const fixed = MODELS.filter(({ groups }) => groups.includes(PUBLIC_RELAY)).map(({ id }) => id);
  await database.query(
    `INSERT INTO upstream_cost_versions (channel_id, model_id, unit_cost, input_cost, cached_input_cost, output_cost, actor,
       reason, request_id)
     SELECT cm.channel_id, cm.model_id, CASE WHEN cm.model_id = ANY ($2) THEN $4::numeric ELSE p.unit_price * $3::numeric END,
       p.input_price * $3::numeric, p.cached_input_price * $3::numeric, p.output_price * $3::numeric, 'system',
       'Example of the sandbox', 'sandbox'
     FROM channel_models cm
     JOIN LATERAL (SELECT * FROM price_versions WHERE model_id = cm.model_id ORDER BY effective_from LIMIT 1) AS p
       ON num_nonnulls(p.unit_price, p.input_price) = 1
     WHERE (cm.channel_id = $1 OR cm.channel_id LIKE $1 || '-%') AND NOT EXISTS (
       SELECT FROM upstream_cost_versions v WHERE v.channel_id = cm.channel_id AND v.model_id = cm.model_id)`,
    [SANDBOX_CHANNEL, fixed, SANDBOX_COST_SHARE, SANDBOX_COST_OF_FIXED],
  );
}

async function configureChannel(
  database: Queryable,
  sandbox: { baseUrl: string; apiKey: string },
  channel: { id: string; protocol: string },
): Promise<void> {
  await database.query(
    `INSERT INTO channels (id, protocol, base_url, api_key, allow_private_address, honours_idempotency)
     VALUES ($1, $2, $3, $4, true, true)
     ON CONFLICT (id) DO UPDATE SET base_url = excluded.base_url, api_key = excluded.api_key
     WHERE (channels.base_url, channels.api_key) IS DISTINCT FROM (excluded.base_url, excluded.api_key)`,
    [channel.id, channel.protocol, sandbox.baseUrl, sandbox.apiKey],
  );
  await database.query(
    `INSERT INTO channel_groups (channel_id, group_name) SELECT $1, name FROM groups ON CONFLICT DO NOTHING`,
    [channel.id],
  );
}
