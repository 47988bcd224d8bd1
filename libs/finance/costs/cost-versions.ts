import type pg from 'pg';
import { inTransaction } from '#database/database.js';
import { audit } from '#identity/audit-log.js';
import { parseDecimal } from '#money/amount.js';
import { ApiError, invalidField } from '#platform/errors.js';
import { keyedByLine, type MediaName, mediaNames, namedByLine } from '#pricing/token-kinds.js';
import { type CostFault, costFault, costFaultText } from './cost-fault.js';

/**
 * The cost of a model on a channel, in exact USD decimals: per call or second, depending on the model's unit, or per million
 * tokens of each type.
 */
export type UpstreamCost =
  | { unitCost: string }
  | ({ input: string; cachedInput: string; output: string } & Partial<Record<MediaName, string | undefined>>);

export interface CostVersion {
  id: bigint;
  channel: string;
  model: string;
  /** Null if withdrawn: the cost is unknown. */
  cost: UpstreamCost | null;
  /** Whether failed work is billed too. */
  billsFailures: boolean;
  /** Null: from the beginning. */
  effectiveFrom: Date | null;
  /** When the next version begins. Null if there is none. */
  until: Date | null;
  actor: string;
  reason: string;
  recordedAt: Date;
}

export interface NewCost {
  channel: string;
  model: string;
  cost: UpstreamCost | null;
  billsFailures: boolean;
  /** Null: from when the cost became unknown, otherwise now. */
  effectiveFrom: Date | null;
  reason: string;
  /** `user:{id}` or `cli:{login}`. */
  actor: string;
  /** A repeat for the same channel and model returns the same answer. */
  requestId: string;
}

export interface CostQuery {
  limit: number;
  beforeId: bigint | null;
  channel?: string | null;
  model?: string | null;
  inForce?: boolean;
}

type Database = pg.Pool | pg.ClientBase;

const COLUMNS = `id, channel_id AS channel, model_id AS model, trim_scale(unit_cost)::text AS "unitCost",
  trim_scale(input_cost)::text AS input, trim_scale(cached_input_cost)::text AS "cachedInput",
  trim_scale(output_cost)::text AS output, media_costs AS media, bills_failures AS "billsFailures",
  CASE WHEN isfinite(effective_from) THEN effective_from END AS "effectiveFrom",
  CASE WHEN isfinite(until) THEN until END AS until, actor, reason, recorded_at AS "recordedAt"`;

/** Versions, newest first. */
export async function listCosts(database: Database, query: CostQuery): Promise<CostVersion[]> {
  const { limit, beforeId, channel = null, model = null, inForce = false } = query;
  const { rows } = await database.query<Row>(
    `SELECT ${COLUMNS} FROM upstream_cost_times
     WHERE ($2::bigint IS NULL OR id < $2) AND ($3::text IS NULL OR channel_id = $3) AND ($4::text IS NULL OR model_id = $4)
       AND (NOT $5 OR (effective_from <= clock_timestamp() AND until > clock_timestamp()))
     ORDER BY id DESC LIMIT $1`,
    [limit, beforeId, channel, model, inForce],
  );
  return rows.map(toVersion);
}

/** Sets the cost of a model on a channel from a given time. @throws ApiError naming the field */
export function setCost(pool: pg.Pool, wanted: NewCost): Promise<CostVersion> {
  return inTransaction(pool, (client) => insertCost(client, wanted));
}

/** The same in the caller's transaction. */
export async function insertCost(client: pg.ClientBase, wanted: NewCost): Promise<CostVersion> {
  const { channel, model } = wanted;
  // New versions of one subject are added one at a time, so that a repeat finds the first.
  await client.query('SELECT FROM cost_progress FOR UPDATE');
  const repeated = await findByRequest(client, wanted);
  if (repeated) return sameOrConflict(repeated, wanted);
  const refused = await findCostFault(client, wanted);
  if (refused) {
    const { field: param, fault } = refused;
    throw new ApiError('invalid_value', costFaultText(fault), { param });
  }
  const before = (await listCosts(client, { limit: 1, beforeId: null, channel, model, inForce: true }))[0];
  if (wanted.cost === null && !before?.cost) {
    throw invalidField('cost', 'there is no cost to withdraw.');
  }
  const version = await writeCost(client, wanted);
  const { cost, billsFailures, effectiveFrom, reason } = version;
  await audit(client, {
    actor: wanted.actor,
    action: 'upstream-cost.set',
    subject: `channel:${channel}`,
    before: before && { model, cost: before.cost, billsFailures: before.billsFailures },
    after: { model, cost, billsFailures, effectiveFrom, reason },
    requestId: wanted.requestId,
  });
  return version;
}

const INSERT = `INSERT INTO upstream_cost_versions (channel_id, model_id, unit_cost, input_cost, cached_input_cost, output_cost,
    bills_failures, effective_from, reason, actor, request_id, media_costs)
  VALUES ($1, $2, $3, $4, $5, $6, $7, coalesce($8::timestamptz, '-infinity'), $9, $10, $11, $12)
  RETURNING id, effective_from <> $8 AS moved`;

async function writeCost(client: pg.ClientBase, wanted: NewCost): Promise<CostVersion> {
  const { channel, model, cost, billsFailures, effectiveFrom, reason, actor, requestId } = wanted;
  await refuseTaken(client, wanted);
  const perToken = cost !== null && 'input' in cost ? cost : null;
  const { rows } = await client.query<{ id: bigint; moved: boolean }>(INSERT, [
    channel,
    model,
    cost !== null && 'unitCost' in cost ? cost.unitCost : null,
    perToken?.input ?? null,
    perToken?.cachedInput ?? null,
    perToken?.output ?? null,
    billsFailures,
    effectiveFrom,
    reason,
    actor,
    requestId,
    perToken && keyedByLine(perToken),
  ]);
  const { id, moved } = rows[0] as (typeof rows)[number];
  if (moved) throw recordedAlready();
  return (await listCosts(client, { limit: 1, beforeId: id + 1n, channel, model }))[0] as CostVersion;
}

function recordedAlready(): ApiError {
  const message = 'effectiveFrom: costs of that time were recorded with another version; use now or later.';
  return new ApiError('invalid_value', message, { param: 'effectiveFrom' });
}

/** @throws ApiError conflict */
async function refuseTaken(
  client: pg.ClientBase,
  { channel, model, effectiveFrom }: Pick<NewCost, 'channel' | 'model' | 'effectiveFrom'>,
): Promise<void> {
  const { rowCount } = await client.query(
    'SELECT FROM upstream_cost_versions WHERE channel_id = $1 AND model_id = $2 AND effective_from = $3',
    [channel, model, effectiveFrom],
  );
  if (rowCount === 0) return;
  const message = 'effectiveFrom: another cost takes effect at this time.';
  throw new ApiError('conflict', message, { param: 'effectiveFrom' });
}

/** Anything above it is a misplaced decimal point, and more than a charge can hold. */
const HIGHEST_UNIT_COST = 1_000n;
const HIGHEST_TOKEN_COST = 1_000_000n;

interface RefusedCost {
  field: string;
  fault: CostFault;
}

/** Why a cost cannot be set, or null. */
export async function findCostFault(
  database: Database,
  { channel, model, cost }: Pick<NewCost, 'channel' | 'model' | 'cost'>,
): Promise<RefusedCost | null> {
  const { rows } = await database.query<{ unit: string | null; aliasOf: string | null; known: boolean }>(
    `SELECT m.unit, m.alias_of AS "aliasOf", EXISTS (SELECT FROM channels WHERE id = $1) AS known
     FROM (SELECT $2::text AS id) AS asked LEFT JOIN models m ON m.id = asked.id`,
    [channel, model],
  );
  const { unit, aliasOf, known } = rows[0] as (typeof rows)[number];
  if (!known) return { field: 'channel', fault: costFault('no_channel', { channel }) };
  if (unit === null) return { field: 'model', fault: costFault('no_model', { model }) };
  if (aliasOf !== null) return { field: 'model', fault: costFault('alias', { model, of: aliasOf }) };
  if (cost === null) return null;
  if ('input' in cost !== (unit === 'token')) {
    const fault = unit === 'token' ? costFault('by_token', { model }) : costFault('by_unit', { model, unit });
    return { field: 'cost', fault };
  }
  return excess(cost);
}

function excess(cost: UpstreamCost): RefusedCost | null {
  const highest = 'input' in cost ? HIGHEST_TOKEN_COST : HIGHEST_UNIT_COST;
  for (const [field, text] of Object.entries(cost) as [string, string | undefined][]) {
    if (text === undefined) continue;
    const { digits, scale } = parseDecimal(text);
    if (digits > highest * 10n ** BigInt(scale))
      return { field, fault: costFault('too_high', { field, highest: highest.toString() }) };
  }
  return null;
}

/** Whether two costs have the same numbers, however they are written. */
export function sameCost(a: UpstreamCost | null, b: UpstreamCost | null): boolean {
  if (a === null || b === null) return a === b;
  const [first, second] = [numbersOf(a), numbersOf(b)];
  return first.length === second.length && first.every((value, at) => value === second[at]);
}

function numbersOf(cost: UpstreamCost): string[] {
  const plain = (text: string) =>
    (text.includes('.') ? text.replace(/\.?0+$/, '') : text).replace(/^0+(?=\d)/, '');
  if ('unitCost' in cost) return [plain(cost.unitCost)];
  const media = mediaNames.map((name) => (cost[name] === undefined ? '' : plain(cost[name])));
  return [...[cost.input, cost.cachedInput, cost.output].map(plain), ...media];
}

type Row = Omit<CostVersion, 'cost'> & {
  unitCost: string | null;
  input: string | null;
  cachedInput: string | null;
  output: string | null;
  media: Record<string, string> | null;
};

function toVersion({ unitCost, input, cachedInput, output, media, ...rest }: Row): CostVersion {
  if (unitCost !== null) return { ...rest, cost: { unitCost } };
  if (input === null || cachedInput === null || output === null) return { ...rest, cost: null };
  return { ...rest, cost: { input, cachedInput, output, ...namedByLine(media) } };
}

async function findByRequest(
  client: pg.ClientBase,
  { channel, model, requestId }: NewCost,
): Promise<CostVersion | null> {
  const { rows } = await client.query<Row>(
    `SELECT ${COLUMNS} FROM upstream_cost_times WHERE channel_id = $1 AND model_id = $2 AND request_id = $3`,
    [channel, model, requestId],
  );
  return rows[0] ? toVersion(rows[0]) : null;
}

function sameOrConflict(stored: CostVersion, wanted: NewCost): CostVersion {
  const { effectiveFrom } = wanted;
  const same =
    sameCost(stored.cost, wanted.cost) &&
    stored.billsFailures === wanted.billsFailures &&
    (effectiveFrom === null || effectiveFrom.getTime() === stored.effectiveFrom?.getTime());
  if (same) return stored;
  throw new ApiError('conflict', 'This requestId set another cost.', { param: 'requestId' });
}
