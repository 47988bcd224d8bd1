import type pg from 'pg';
import { z } from 'zod';
import { atHorizon } from '#ledger/postings/horizon.js';
import { amountView, numberText, type RowOf, timeView, wholeText } from '#platform/http/fields.js';
import { REVENUE_FACTS } from './revenue-days.js';

export const priceChangeKinds = ['price', 'multiplier', 'rule'] as const;
export type PriceChangeKind = (typeof priceChangeKinds)[number];

export interface PriceChangesQuery {
  /** Versions that take effect from this time on and before the other. Null means no bound. */
  from: Date | null;
  to: Date | null;
  kind: PriceChangeKind | null;
  /** The model of a price, or the group of a multiplier or rule. */
  subject: string | null;
  limit: number;
}

/** A version of a price, multiplier or group rule, with its author and revenue without refunds. */
export const priceChangeView = z
  .object({
    kind: z.enum(priceChangeKinds),
    versionId: numberText,
    subject: z.string().describe('The model of a price, the group of a multiplier or rule.'),
    value: z.string().describe('Credits, or the multiplier. Per million tokens: input/cached input/output.'),
    before: z.string().nullable(),
    effectiveFrom: timeView.nullable().describe('Null means from the beginning.'),
    until: timeView.nullable(),
    recordedAt: timeView,
    proposal: z
      .object({
        id: z.string(),
        note: z.string(),
        proposedBy: z.string(),
        decidedBy: z.string().nullable(),
      })
      .nullable()
      .describe('Null for versions from the initial catalog.'),
    gross: amountView.describe('The amount settled under it so far.'),
    charges: wholeText,
    units: wholeText,
  })
  .meta({ id: 'PriceChange' });

export type PriceVersionEarned = RowOf<typeof priceChangeView, Date>;

/** The rates of a version as in a price file. Null if it has none. */
const RATES = `(
  SELECT string_agg((SELECT string_agg(name || '=' || value, ' ' ORDER BY length(name), name)
      FROM jsonb_each_text(rate -> 'when') AS w (name, value)) || ' ' || (rate ->> 'unitPrice'), '; ' ORDER BY place)
  FROM jsonb_array_elements(rates) WITH ORDINALITY AS r (rate, place))`;

const VERSIONS = `
  SELECT 'price' AS kind, id, model_id AS subject, effective_from, recorded_at, proposal_id,
    coalesce(trim_scale(unit_price)::text || coalesce(' with ' || ${RATES}, ''), trim_scale(input_price)::text || '/' || trim_scale(cached_input_price)::text || '/'
      || trim_scale(output_price)::text || coalesce('/' || trim_scale(cache_write_price)::text, '')
      || coalesce('/' || trim_scale(cache_write_1h_price)::text, '')
      || coalesce(' with ' || (SELECT string_agg(name || ' ' || amount, ', ' ORDER BY name) FROM jsonb_each_text(media_prices) AS m (name, amount)), ''), 'withdrawn') AS value
  FROM price_versions
  UNION ALL SELECT 'multiplier', id, group_name, effective_from, recorded_at, proposal_id,
    coalesce(trim_scale(multiplier)::text, 'withdrawn') FROM multiplier_versions
  UNION ALL SELECT 'rule', id, group_name, effective_from, recorded_at, proposal_id,
    coalesce(trim_scale(unit_price)::text, rule) FROM group_rule_versions`;

/** A multiplier has no revenue while a rule replaces the list price. */
const EARNED = `
  SELECT 'price' AS kind, price_version_id AS id, gross, charges, units FROM earned
  UNION ALL SELECT 'multiplier', multiplier_version_id, gross, charges, units FROM earned WHERE group_rule_version_id IS NULL
  UNION ALL SELECT 'rule', group_rule_version_id, gross, charges, units FROM earned`;

const REGISTER = `
  WITH times AS (
    SELECT *, lag(value) OVER subject AS before, lead(effective_from) OVER subject AS until FROM (${VERSIONS}) AS versions
    WINDOW subject AS (PARTITION BY kind, subject ORDER BY effective_from)),
  asked AS MATERIALIZED (
    SELECT * FROM times WHERE effective_from >= coalesce($3::timestamptz, '-infinity')
      AND effective_from < coalesce($4::timestamptz, 'infinity') AND ($5::text IS NULL OR kind = $5)
      AND ($6::text IS NULL OR subject = $6) ORDER BY effective_from DESC, kind, id DESC LIMIT $7),
  earned AS MATERIALIZED (
    SELECT price_version_id, multiplier_version_id, group_rule_version_id, sum(gross) AS gross, sum(charges) AS charges,
      sum(units) AS units FROM (${REVENUE_FACTS}) AS facts WHERE charges > 0 GROUP BY 1, 2, 3),
  by_version AS (
    SELECT kind, id, sum(gross) AS gross, sum(charges) AS charges, sum(units) AS units FROM (${EARNED}) AS each GROUP BY 1, 2)
  SELECT a.kind, a.id AS "versionId", a.subject, a.value, a.before, a.recorded_at AS "recordedAt",
    CASE WHEN isfinite(a.effective_from) THEN a.effective_from END AS "effectiveFrom",
    CASE WHEN isfinite(a.until) THEN a.until END AS until,
    CASE WHEN p.id IS NOT NULL THEN json_build_object('id', p.id, 'note', p.note, 'proposedBy', p.proposed_by,
      'decidedBy', p.decided_by) END AS proposal,
    coalesce(e.gross, 0)::text AS gross, coalesce(e.charges, 0)::bigint AS charges, coalesce(e.units, 0)::bigint AS units
  FROM asked a LEFT JOIN by_version e ON e.kind = a.kind AND e.id = a.id LEFT JOIN price_proposals p ON p.id = a.proposal_id
  ORDER BY a.effective_from DESC, a.kind, a.id DESC`;

/** The register of price changes, latest first, with the revenue of each version so far. */
export function priceChanges(pool: pg.Pool, query: PriceChangesQuery): Promise<PriceVersionEarned[]> {
  const { from, to, kind, subject, limit } = query;
  return atHorizon(pool, async (client) => {
    await client.query('SET LOCAL enable_seqscan = off');
    // A version has no revenue before it takes effect.
    const first = from?.toISOString().slice(0, 10) ?? '1970-01-01';
    const values = [first, 'infinity', from, to, kind, subject, limit];
    // A sum of nanos may exceed int8.
    const { rows } = await client.query<Omit<PriceVersionEarned, 'gross'> & { gross: string }>(
      REGISTER,
      values,
    );
    return rows.map((row) => ({ ...row, gross: BigInt(row.gross) }));
  });
}
