import type { ClientBase, Pool, QueryResult, QueryResultRow } from 'pg';
import { inTransaction } from '#database/database.js';

/** A request with an Idempotency-Key. */
export interface KeyedRequest {
  /** The API key, which has its own namespace. */
  keyId: string;
  /** The header's value. */
  name: string;
  /** SHA-256 of the request. */
  contentHash: Buffer;
  /** The charge of this request, if it is the first. */
  chargeId: string;
}

/** The bytes of an answer, or the file that holds them. */
export type KeptBody = { bytes: Buffer } | { file: string };

export interface KeptAnswer {
  status: number;
  contentType: string | null;
  headers: Record<string, string>;
  body: KeptBody;
}

/** What is stored under a key. */
export interface KeyedRecord {
  chargeId: string;
  contentHash: Buffer;
  /** Older than the time that keys are kept. */
  isExpired: boolean;
  /** Not renewed any more: its gateway has died or given it up. */
  isLeft: boolean;
  /** Null while the first request is running, or if its gateway died. */
  answer: KeptAnswer | null;
}

interface Statement {
  name: string;
  text: string;
}

const CLAIM: Statement = {
  name: 'idempotency_claim',
  text: `INSERT INTO idempotency_keys (key_id, idempotency_key, content_hash, charge_id, lease_until, expires_at)
    VALUES ($1, $2, $3, $4, now() + $5 * interval '1 ms', now() + $6 * interval '1 ms')
    ON CONFLICT (key_id, idempotency_key) DO NOTHING`,
};
const FIND: Statement = {
  name: 'idempotency_find',
  text: `SELECT charge_id, content_hash, expires_at <= now() AS expired, lease_until <= now() AS lease_over,
    state, status, content_type, headers, answer, answer_file
    FROM idempotency_keys WHERE key_id = $1 AND idempotency_key = $2`,
};
const ANSWER: Statement = {
  name: 'idempotency_answer',
  text: `UPDATE idempotency_keys SET state = 'answered', status = $2, content_type = $3, headers = $4, answer = $5, answer_file = $6
    WHERE charge_id = $1 AND state = 'running'`,
};
const RENEW: Statement = {
  name: 'idempotency_renew',
  text: `UPDATE idempotency_keys SET lease_until = now() + $2 * interval '1 ms'
    WHERE charge_id = ANY ($1) AND state = 'running'`,
};
const FREE: Statement = {
  name: 'idempotency_free',
  text: `DELETE FROM idempotency_keys WHERE charge_id = $1 AND state = 'running'`,
};
const LOCK_LEFT: Statement = {
  name: 'idempotency_lock_left',
  text: `SELECT lease_until FROM idempotency_keys
    WHERE charge_id = $1 AND state = 'running' AND lease_until <= now() FOR UPDATE`,
};
// Not now(), which is the start of the transaction.
const LOCK_HELD: Statement = {
  name: 'idempotency_lock_held',
  text: `SELECT 1 FROM idempotency_keys
    WHERE charge_id = $1 AND state = 'running' AND lease_until > statement_timestamp() FOR KEY SHARE`,
};
const PURGE: Statement = {
  name: 'idempotency_purge',
  text: `DELETE FROM idempotency_keys WHERE charge_id = ANY (ARRAY(
      SELECT charge_id FROM idempotency_keys WHERE expires_at <= now() AND ($2::text IS NULL OR charge_id = $2)
      ORDER BY expires_at LIMIT $1 FOR UPDATE SKIP LOCKED))
    RETURNING answer_file`,
};

interface Row {
  charge_id: string;
  content_hash: Buffer;
  expired: boolean;
  lease_over: boolean;
  state: 'running' | 'answered';
  status: number | null;
  content_type: string | null;
  headers: Record<string, string> | null;
  answer: Buffer | null;
  answer_file: string | null;
}

/** The table of Idempotency-Keys. Every change is a compare-and-set on the charge of the request that owns the row. */
export class IdempotencyStore {
  constructor(private readonly pool: Pool) {}

  /** Makes this request the first under its key. False if there is one already. */
  async claim(request: KeyedRequest, times: { leaseMs: number; lifeMs: number }): Promise<boolean> {
    const { keyId, name, contentHash, chargeId } = request;
    const values = [keyId, name, contentHash, chargeId, times.leaseMs, times.lifeMs];
    return (await this.run(CLAIM, values)).rowCount === 1;
  }

  async find(keyId: string, name: string): Promise<KeyedRecord | null> {
    const { rows } = await this.run<Row>(FIND, [keyId, name]);
    return rows[0] ? recordFrom(rows[0]) : null;
  }

  /** Stores the answer of a request that still owns its row. */
  async answer(chargeId: string, { status, contentType, headers, body }: KeptAnswer): Promise<void> {
    const [bytes, file] = 'file' in body ? [null, body.file] : [body.bytes, null];
    const kept = Object.keys(headers).length > 0 ? headers : null;
    await this.run(ANSWER, [chargeId, status, contentType, kept, bytes, file]);
  }

  /** Marks these requests as still in progress; 0 ms marks them as abandoned. */
  async renew(chargeIds: string[], leaseMs: number): Promise<void> {
    await this.run(RENEW, [chargeIds, leaseMs]);
  }

  /** Lets the next request under the key be the first again. */
  async free(chargeId: string): Promise<void> {
    await this.run(FREE, [chargeId]);
  }

  /**
   * The outcome of an abandoned request, read while its row is locked. If that is null, its row is deleted, and the next request
   * under the key is the first again. Null also if the request is in progress after all.
   */
  async outcomeOfLeft<T>(
    chargeId: string,
    outcomeOf: (client: ClientBase, leaseUntilMs: number) => Promise<T | null>,
  ): Promise<T | null> {
    return inTransaction(this.pool, async (client) => {
      const left = await client.query<{ lease_until: Date }>({ ...LOCK_LEFT, values: [chargeId] });
      if (!left.rows[0]) return null;
      const outcome = await outcomeOf(client, left.rows[0].lease_until.getTime());
      if (outcome === null) await client.query({ ...FREE, values: [chargeId] });
      return outcome;
    });
  }

  /** Whether the request still holds its lease. If so, nobody can take its row before the end of the caller's transaction. */
  async lockHeld(client: ClientBase, chargeId: string): Promise<boolean> {
    return (await client.query({ ...LOCK_HELD, values: [chargeId] })).rowCount === 1;
  }

  /** Deletes at most `limit` expired rows, or the given one, and returns their files. */
  async purge(limit: number, chargeId?: string): Promise<{ rows: number; files: string[] }> {
    const { rows } = await this.run<{ answer_file: string | null }>(PURGE, [limit, chargeId ?? null]);
    return { rows: rows.length, files: rows.flatMap(({ answer_file }) => answer_file ?? []) };
  }

  private run<R extends QueryResultRow>(statement: Statement, values: unknown[]): Promise<QueryResult<R>> {
    return this.pool.query<R>({ ...statement, values });
  }
}

function recordFrom(row: Row): KeyedRecord {
  const { status, content_type: contentType, answer, answer_file: file } = row;
  const body: KeptBody = file === null ? { bytes: answer ?? Buffer.alloc(0) } : { file };
  return {
    chargeId: row.charge_id,
    contentHash: row.content_hash,
    isExpired: row.expired,
    isLeft: row.state === 'running' && row.lease_over,
    answer: status === null ? null : { status, contentType, headers: row.headers ?? {}, body },
  };
}
