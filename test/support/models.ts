import type pg from 'pg';

interface NewModel {
  id: string;
  /** The model to copy the family, unit and limits of. */
  like: string;
  /** A different unit. */
  unit?: string;
  /** Its prices, as a multiple of that model's. */
  times?: number;
  channel: string;
  protocol: string;
  baseUrl: string;
}

/** Adds a model to the catalog, in Vendora-Main. Creates the channel if none has this name. */
export async function addModel(owner: pg.Pool, model: NewModel): Promise<void> {
  const { id, like, unit, times = 1, channel, protocol, baseUrl } = model;
  await owner.query(
    `INSERT INTO channels (id, protocol, base_url, api_key, allow_private_address)
     VALUES ($1, $2, $3, 'k', true) ON CONFLICT DO NOTHING`,
    [channel, protocol, baseUrl],
  );
  await owner.query(`INSERT INTO channel_groups VALUES ($1, 'Vendora-Main') ON CONFLICT DO NOTHING`, [
    channel,
  ]);
  await owner.query(
    `INSERT INTO models (id, family, unit, owned_by, limits)
     SELECT $1, family, coalesce($3, unit), owned_by, limits FROM models WHERE id = $2`,
    [id, like, unit ?? null],
  );
  await owner.query(
    `INSERT INTO price_versions (model_id, unit_price, input_price, cached_input_price, output_price)
     SELECT $1, unit_price * $3, input_price * $3, cached_input_price * $3, output_price * $3
     FROM price_versions WHERE model_id = $2`,
    [id, like, times],
  );
  await owner.query(`INSERT INTO group_models VALUES ('Vendora-Main', $1)`, [id]);
  await owner.query(`INSERT INTO channel_models VALUES ($1, $2, $2)`, [channel, id]);
}
