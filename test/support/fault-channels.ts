import { vendorContracts } from '#apps/sandbox-upstream/contract/vendors.fixture.js';
import type { Family } from '#pricing/price-book.js';
import { canServe, protocolNames } from '#upstream/adapters.js';
import type { Capability } from '#upstream/protocol.js';
import type { Relay } from './relay.js';

/** Nano-USD per token. */
export const TOKEN_PRICE = { input: 2_500, output: 10_000 };

interface FaultModel {
  id: string;
  family: Family;
  unit: string;
  /** USD per unit; null if priced by tokens. */
  price: string | null;
  /** Per million tokens of images. */
  mediaPrices?: { image_input: string; image_output: string };
  channel: string;
  /** The vendor's name for it. */
  as: string;
}

type Offer = Pick<FaultModel, 'family' | 'unit' | 'price' | 'mediaPrices'> & {
  /** The operation whose path contains the vendor's name for the model, at vendors that put models into paths. */
  operation: Capability;
};

/** One model of each for every protocol that supports its type. */
const OFFERS: Record<string, Offer> = {
  imgmodel: {
    family: 'image',
    unit: 'call',
    price: '0.02',
    operation: 'images',
  },
  imgtokens: {
    family: 'image',
    unit: 'token',
    price: null,
    mediaPrices: { image_input: '8', image_output: '32' },
    operation: 'images',
  },
  vidmodel: { family: 'video', unit: 'second', price: '0.05', operation: 'videos' },
  speech: { family: 'speech', unit: 'call', price: '0.015', operation: 'speech' },
  hear: { family: 'speech', unit: 'second', price: '0.015', operation: 'transcription' },
  heartokens: {
    family: 'speech',
    unit: 'token',
    price: null,
    operation: 'transcription',
  },
  embed: { family: 'chat', unit: 'call', price: '0.01', operation: 'embeddings' },
  '3d': { family: '3d', unit: 'call', price: '0.1', operation: 'assets3d' },
  chat: { family: 'chat', unit: 'token', price: null, operation: 'chat' },
};

/** Adds a channel to the sandbox for each protocol, each with models of its own. Call it before the first request. */
export async function addChannels({ fixture: { owner }, sandboxUrl }: Relay): Promise<void> {
  const account = await (await fetch(`${sandboxUrl}/_sandbox/service-account`)).text();
  for (const protocol of protocolNames) {
    const { basePath = '', hasAccounts } = vendorContracts[protocol];
    await owner.query(
      `INSERT INTO channels (id, protocol, base_url, api_key, allow_private_address, honours_idempotency)
       VALUES ($1, $1, $2, $3, true, true)`,
      [protocol, `${sandboxUrl}${basePath}`, hasAccounts ? account : 'sandbox-key'],
    );
    await owner.query(`INSERT INTO channel_groups VALUES ($1, 'Vendora-Main')`, [protocol]);
  }
  for (const [name, { operation, ...offer }] of Object.entries(OFFERS)) {
    for (const channel of protocolNames.filter((protocol) => canServe(protocol, offer.family))) {
      const as = vendorContracts[channel].models?.[operation] ?? `their-${name}`;
      await addModel(owner, { ...offer, id: `${name}-${channel}`, channel, as });
    }
  }
  // A vendor that answers with URLs, and cannot be asked for base64.
  await addModel(owner, {
    id: 'imgmodel-by-address',
    family: 'image',
    unit: 'call',
    price: '0.02',
    channel: 'openai',
    as: 'gpt-image-1',
  });
}

async function addModel(owner: Relay['fixture']['owner'], model: FaultModel): Promise<void> {
  const { id, family, unit, price, mediaPrices, channel, as } = model;
  await owner.query(
    `INSERT INTO models (id, family, unit, owned_by, limits) VALUES ($1, $2, $3, 'vendora', '{"maxImages": 10}')`,
    [id, family, unit],
  );
  await (price === null
    ? owner.query(
        `INSERT INTO price_versions (model_id, input_price, cached_input_price, output_price, media_prices)
         VALUES ($1, 2.5, 2.5, 10, $2)`,
        [id, mediaPrices ?? null],
      )
    : owner.query('INSERT INTO price_versions (model_id, unit_price) VALUES ($1, $2)', [id, price]));
  await owner.query(`INSERT INTO group_models (group_name, model_id) VALUES ('Vendora-Main', $1)`, [id]);
  await owner.query('INSERT INTO channel_models VALUES ($1, $2, $3)', [channel, id, as]);
}
