import type pg from 'pg';
import { z } from 'zod';
import { lockHolds } from '#database/locks.js';
import { ApiError } from '#platform/errors.js';
import { type RowOf, timeView } from '#platform/http/fields.js';
import {
  type Conversion,
  convert,
  isResellerVolume,
  RESELLER_RATE,
  STANDARD_RATE,
  type TopupRate,
  topupRates,
  type TopupWish,
} from './conversion.js';

export const rateVersionView = z.object({
  rate: z.enum(topupRates),
  effectiveFrom: timeView,
  reason: z.string(),
  actor: z.string(),
  recordedAt: timeView,
});

type RateVersion = RowOf<typeof rateVersionView, Date>;

export interface NewRate {
  accountId: string;
  rate: TopupRate;
  /** Null: now. */
  effectiveFrom: Date | null;
  reason: string;
  /** `user:{id}` or `cli:{login}`. */
  actor: string;
  /** The client's own id of the request. A repeat sets nothing. */
  requestId: string;
}

type Database = pg.Pool | pg.ClientBase;

/** The rate of an account at this moment. */
export async function rateInForce(database: Database, accountId: string): Promise<TopupRate> {
  const { rows } = await database.query<{ rate: string }>(
    `SELECT trim_scale(rate)::text AS rate FROM account_rate_versions
     WHERE account_id = $1 AND effective_from <= clock_timestamp() ORDER BY effective_from DESC LIMIT 1`,
    [accountId],
  );
  return rows[0] ? toRate(rows[0].rate) : STANDARD_RATE;
}

/** Converts a wish at the account's current rate. */
export async function convertForAccount(
  database: Database,
  accountId: string,
  wish: TopupWish,
): Promise<Conversion> {
  return convert(wish, await rateInForce(database, accountId));
}

/** What decides on a request for the reseller rate. */
export interface ResellerVolume {
  /** Tokens that were charged. */
  readonly verifiedTokens: bigint;
  readonly thresholdTokens: bigint;
  readonly isEligible: boolean;
  /** The account's current rate. */
  readonly rate: TopupRate;
}

/** Tokens that the account was charged for, which verify a reseller's volume: none that were free, or refunded whole. */
async function verifiedTokens(database: Database, accountId: string): Promise<bigint> {
  const { rows } = await database.query<{ tokens: string }>(
    `SELECT coalesce(sum((line ->> 'units')::numeric), 0)::text AS tokens
     FROM charges c LEFT JOIN (SELECT charge_id, sum(amount) AS amount FROM charge_refunds
       WHERE account_id = $1 GROUP BY charge_id) r ON r.charge_id = c.id
     CROSS JOIN LATERAL jsonb_array_elements(c.delivered_lines) AS line
     WHERE c.account_id = $1 AND c.state = 'settled' AND jsonb_typeof(c.delivered_lines) = 'array'
       AND c.settled > coalesce(r.amount, 0)`,
    [accountId],
  );
  return BigInt(rows[0]?.tokens ?? 0);
}

/**
 * Writes a version of an account's rate in the caller's transaction. The reseller rate needs the verified volume.
 * @throws ApiError conflict below the threshold, for a time that has passed or is taken, or a request id used for
 * something else
 */
async function setAccountRate(
  client: pg.ClientBase,
  asked: NewRate & { thresholdTokens: bigint },
): Promise<RateVersion> {
  const { accountId, rate, requestId, thresholdTokens } = asked;
  await lockHolds(client, accountId);
  const repeated = await findByRequest(client, accountId, requestId);
  if (repeated) return sameOrConflict(repeated, asked);
  if (rate === RESELLER_RATE) await requireVolume(client, accountId, thresholdTokens);
  const { rows } = await client.query<VersionRow>(
    `INSERT INTO account_rate_versions (account_id, rate, effective_from, reason, actor, request_id)
     SELECT $1, $2, coalesce($3, clock_timestamp()), $4, $5, $6
     WHERE coalesce($3, clock_timestamp()) >= transaction_timestamp()
       AND NOT EXISTS (SELECT FROM account_rate_versions WHERE account_id = $1 AND effective_from = $3)
     RETURNING ${VERSION}`,
    [accountId, rate, asked.effectiveFrom, asked.reason, asked.actor, requestId],
  );
  if (rows[0]) return toVersion(rows[0]);
  const message = 'A rate takes effect now or later, and no two at the same time.';
  throw new ApiError('conflict', message, { param: 'effectiveFrom' });
}

async function requireVolume(
  client: pg.ClientBase,
  accountId: string,
  thresholdTokens: bigint,
): Promise<void> {
  const tokens = await verifiedTokens(client, accountId);
  if (isResellerVolume(tokens, thresholdTokens)) return;
  throw new ApiError('conflict', `The verified volume is ${tokens} tokens of ${thresholdTokens}.`);
}

/** Every version, latest first. */
async function rateVersions(database: Database, accountId: string): Promise<RateVersion[]> {
  const { rows } = await database.query<VersionRow>(
    `SELECT ${VERSION} FROM account_rate_versions WHERE account_id = $1 ORDER BY effective_from DESC`,
    [accountId],
  );
  return rows.map(toVersion);
}

export interface AccountRatesParts {
  readonly pool: pg.Pool;
  readonly config: { readonly payments: { readonly resellerThresholdTokens: bigint } };
}

/** The same, for modules that inject it. */
export class AccountRates {
  constructor(private readonly parts: AccountRatesParts) {}

  private get thresholdTokens(): bigint {
    return this.parts.config.payments.resellerThresholdTokens;
  }

  async volumeOf(accountId: string): Promise<ResellerVolume> {
    const { pool } = this.parts;
    const { thresholdTokens } = this;
    const [tokens, rate] = await Promise.all([verifiedTokens(pool, accountId), rateInForce(pool, accountId)]);
    const isEligible = isResellerVolume(tokens, thresholdTokens);
    return { verifiedTokens: tokens, thresholdTokens, isEligible, rate };
  }

  versions(accountId: string): Promise<RateVersion[]> {
    return rateVersions(this.parts.pool, accountId);
  }

  /** In the caller's transaction. @throws ApiError like `setAccountRate` */
  set(client: pg.ClientBase, rate: NewRate): Promise<RateVersion> {
    return setAccountRate(client, { ...rate, thresholdTokens: this.thresholdTokens });
  }
}

const VERSION = `trim_scale(rate)::text AS rate, effective_from AS "effectiveFrom", reason, actor, recorded_at AS "recordedAt"`;

type VersionRow = Omit<RateVersion, 'rate'> & { rate: string };

function toVersion(row: VersionRow): RateVersion {
  return { ...row, rate: toRate(row.rate) };
}

function toRate(text: string): TopupRate {
  const rate = topupRates.find((each) => each === text);
  if (rate) return rate;
  throw new Error(`the database holds a rate of ${text}`);
}

async function findByRequest(
  client: pg.ClientBase,
  accountId: string,
  requestId: string,
): Promise<RateVersion | null> {
  const { rows } = await client.query<VersionRow>(
    `SELECT ${VERSION} FROM account_rate_versions WHERE account_id = $1 AND request_id = $2`,
    [accountId, requestId],
  );
  return rows[0] ? toVersion(rows[0]) : null;
}

function sameOrConflict(stored: RateVersion, { rate, effectiveFrom }: NewRate): RateVersion {
  const same =
    stored.rate === rate &&
    (effectiveFrom === null || effectiveFrom.getTime() === stored.effectiveFrom.getTime());
  if (same) return stored;
  throw new ApiError('conflict', 'This requestId set another rate.', { param: 'requestId' });
}
