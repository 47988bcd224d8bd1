import type pg from 'pg';
import type { PriceText } from '#pricing/price-text.js';
import type { Proposal } from '../prices/proposal.js';

/** The list price that a proposed price was derived from, and the margin on it. */
export interface PriceBase {
  readonly model: string;
  readonly listPrice: PriceText;
  readonly marginPercent: string;
}

/** What is known about prices that were derived from list prices. */
export interface KnownBases {
  /** From the newest confirmed proposal, by model. */
  readonly confirmed: ReadonlyMap<string, PriceBase>;
  /** From the newest proposal that can still be confirmed, by model. */
  readonly open: ReadonlyMap<string, string>;
}

/** Stores the bases of a proposal, in its transaction. */
export async function noteBases(
  client: pg.ClientBase,
  { id }: Pick<Proposal, 'id'>,
  bases: readonly PriceBase[],
): Promise<void> {
  await client.query(
    `INSERT INTO price_bases (proposal_id, model_id, list_price, margin_percent)
     SELECT $1, b.model, b.list::jsonb, b.margin
     FROM unnest($2::text[], $3::text[], $4::numeric[]) AS b (model, list, margin)`,
    [
      id,
      bases.map(({ model }) => model),
      bases.map(({ listPrice }) => JSON.stringify(listPrice)),
      bases.map(({ marginPercent }) => marginPercent),
    ],
  );
}

type Row = PriceBase & { proposal: string; isOpen: boolean };

export async function readBases(database: pg.Pool | pg.ClientBase): Promise<KnownBases> {
  const { rows } = await database.query<Row>(
    `SELECT DISTINCT ON (b.model_id, p.state) b.model_id AS model, b.list_price AS "listPrice",
       trim_scale(b.margin_percent)::text AS "marginPercent", p.id AS proposal, p.state = 'open' AS "isOpen"
     FROM price_bases b JOIN price_proposals p ON p.id = b.proposal_id
     WHERE p.state = 'confirmed' OR p.state = 'open' AND p.expires_at > clock_timestamp()
     ORDER BY b.model_id, p.state, coalesce(p.decided_at, p.proposed_at) DESC, p.id DESC`,
  );
  return {
    confirmed: new Map(rows.filter(({ isOpen }) => !isOpen).map((row) => [row.model, row])),
    open: new Map(rows.filter(({ isOpen }) => isOpen).map(({ model, proposal }) => [model, proposal])),
  };
}
