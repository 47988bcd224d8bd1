import type pg from 'pg';
import { randomUUID } from 'node:crypto';
import { inTransaction } from '#database/database.js';
import { audit } from '#identity/audit-log.js';
import { countDaily } from '#identity/daily-limits.js';
import { ApiError } from '#platform/errors.js';
import { newId } from '#platform/ids.js';
import { archiveOf } from './export-archive.js';

type DataExportState = 'requested' | 'running' | 'ready' | 'failed';

export interface DataExport {
  id: string;
  state: DataExportState;
  requestedAt: Date;
  readyAt: Date | null;
  /** When the download expires. */
  expiresAt: Date | null;
  bytes: number;
  failure: 'too_large' | 'failed' | null;
}

export interface DataExportOptions {
  pool: pg.Pool;
  /** How long an archive can be downloaded. */
  lifeMs: number;
  maxBytes: number;
  /** After an export is given up for a reason other than its size. */
  onFailed: (exportId: string) => void;
}

interface OwnerRequest {
  accountId: string;
  userId: string;
  requestId: string;
}

interface Claimed {
  readonly id: string;
  readonly accountId: string;
  readonly token: string;
}

const COLUMNS = `id, state, requested_at AS "requestedAt", ready_at AS "readyAt", expires_at AS "expiresAt",
  bytes::float8 AS bytes, failure`;
/** How many archives of an account are listed, and stored at a time. */
const MOST_LISTED = 10;
const LEASE_MS = 60_000;
/** Then it is given up, whether its rounds failed or killed their process. */
const MOST_ATTEMPTS = 3;
const PIECE_BYTES = 512 * 1024;

/** Archives of an account's own data. The owner requests one, a job creates it, one at a time, and it expires. */
export class DataExports {
  constructor(private readonly options: DataExportOptions) {}

  /** Requests an archive. If one is in progress, returns that one. */
  request(owner: OwnerRequest): Promise<DataExport> {
    const { accountId } = owner;
    return inTransaction(this.options.pool, async (client) => {
      const { rows: made } = await client.query<DataExport>(
        `INSERT INTO data_exports (id, account_id) VALUES ($1, $2)
         ON CONFLICT (account_id) WHERE state IN ('requested', 'running') DO NOTHING RETURNING ${COLUMNS}`,
        [newId(), accountId],
      );
      if (!made[0]) {
        const { rows } = await client.query<DataExport>(
          `SELECT ${COLUMNS} FROM data_exports WHERE account_id = $1 ORDER BY id DESC LIMIT 1`,
          [accountId],
        );
        return rows[0]!;
      }
      const { id } = made[0];
      await noteExport(client, owner, { action: 'account.export_requested', id });
      return made[0];
    });
  }

  /** The archives of an account, newest first. */
  async list(accountId: string): Promise<DataExport[]> {
    const { rows } = await this.options.pool.query<DataExport>(
      `SELECT ${COLUMNS} FROM data_exports WHERE account_id = $1 ORDER BY id DESC LIMIT ${MOST_LISTED}`,
      [accountId],
    );
    return rows;
  }

  /** The content of an archive, only for its owner. @throws ApiError not_found, too_many_attempts */
  async download(exportId: string, owner: OwnerRequest): Promise<AsyncGenerator<Buffer>> {
    await inTransaction(this.options.pool, async (client) => {
      const { rowCount } = await client.query(
        `SELECT FROM data_exports WHERE id = $1 AND account_id = $2 AND state = 'ready' AND expires_at > now()`,
        [exportId, owner.accountId],
      );
      if (rowCount !== 1) throw new ApiError('not_found', 'You have no such export, or it has expired.');
      await countDaily(client, owner.accountId, 'downloads of archives');
      await noteExport(client, owner, { action: 'account.export_downloaded', id: exportId });
    });
    return this.pieces(exportId);
  }

  /** Creates one requested archive. @returns whether there may be another */
  async round(signal: AbortSignal): Promise<boolean> {
    const claimed = await this.claim();
    if (!claimed) return false;
    const { id, accountId, token } = claimed;
    try {
      await this.make({ id, accountId, token }, signal);
    } catch (error) {
      await this.leave({ id, token }, error, signal.aborted);
      if (!(error instanceof TooLarge)) throw error;
    }
    return true;
  }

  private async *pieces(exportId: string): AsyncGenerator<Buffer> {
    for (let ordinal = 0; ; ordinal += 1) {
      const { rows } = await this.options.pool.query<{ bytes: Buffer }>(
        'SELECT bytes FROM data_export_pieces WHERE export_id = $1 AND ordinal = $2',
        [exportId, ordinal],
      );
      if (!rows[0]) return;
      yield rows[0].bytes;
    }
  }

  /** Starts over: also removes what a killed process left, while no other process can store. */
  private async claim(): Promise<Claimed | null> {
    const token = randomUUID();
    const { failed, claimed } = await inTransaction(this.options.pool, async (client) => {
      const givenUp = await this.giveUp(client);
      const { rows } = await client.query<{ id: string; accountId: string }>(
        `UPDATE data_exports SET state = 'running', attempts = attempts + 1, bytes = 0, lease_token = $1,
           lease_until = now() + $2::float8 * interval '1 millisecond'
         WHERE id = (SELECT id FROM data_exports WHERE state = 'requested' OR state = 'running' AND lease_until < now()
           ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED)
         RETURNING id, account_id AS "accountId"`,
        [token, LEASE_MS],
      );
      if (rows[0]) await deletePieces(client, rows[0].id);
      return { failed: givenUp, claimed: rows[0] ? { ...rows[0], token } : null };
    });
    for (const id of failed) this.options.onFailed(id);
    return claimed;
  }

  /** Those that were left too often by processes that died, maybe because of them. */
  private async giveUp(client: pg.ClientBase): Promise<string[]> {
    const { rows } = await client.query<{ id: string }>(
      `UPDATE data_exports SET state = 'failed', failure = 'failed', lease_token = NULL, lease_until = NULL,
         expires_at = now() + $2::float8 * interval '1 millisecond'
       WHERE state = 'running' AND lease_until < now() AND attempts >= $1 RETURNING id`,
      [MOST_ATTEMPTS, this.options.lifeMs],
    );
    return rows.map(({ id }) => id);
  }

  private async make({ id, accountId, token }: Claimed, signal: AbortSignal): Promise<void> {
    let ordinal = 0;
    for await (const piece of inPieces(archiveOf(this.options.pool, accountId))) {
      signal.throwIfAborted();
      await this.store({ id, token, ordinal, piece });
      ordinal += 1;
    }
    await this.options.pool.query(
      `UPDATE data_exports SET state = 'ready', ready_at = now(), lease_token = NULL, lease_until = NULL,
         expires_at = now() + $3::float8 * interval '1 millisecond'
       WHERE id = $1 AND lease_token = $2 AND state = 'running'`,
      [id, token, this.options.lifeMs],
    );
  }

  /** Only with the lease, which it extends. Without it, another process is at work. */
  private store(piece: { id: string; token: string; ordinal: number; piece: Buffer }): Promise<void> {
    return inTransaction(this.options.pool, async (client) => {
      const { rows } = await client.query<{ bytes: string }>(
        `UPDATE data_exports SET bytes = bytes + $3, lease_until = now() + $4::float8 * interval '1 millisecond'
         WHERE id = $1 AND lease_token = $2 AND state = 'running' RETURNING bytes::text`,
        [piece.id, piece.token, piece.piece.length, LEASE_MS],
      );
      if (!rows[0]) throw new Error('another process makes this export');
      if (BigInt(rows[0].bytes) > BigInt(this.options.maxBytes)) throw new TooLarge();
      await client.query('INSERT INTO data_export_pieces (export_id, ordinal, bytes) VALUES ($1, $2, $3)', [
        piece.id,
        piece.ordinal,
        piece.piece,
      ]);
    });
  }

  /** A shutdown does not count as an attempt. */
  private async leave(
    { id, token }: Pick<Claimed, 'id' | 'token'>,
    error: unknown,
    isStopped: boolean,
  ): Promise<void> {
    const isTooLarge = error instanceof TooLarge;
    const hasFailed = await inTransaction(this.options.pool, async (client) => {
      const { rows } = await client.query<{ failure: DataExport['failure'] }>(
        `UPDATE data_exports SET lease_token = NULL, lease_until = NULL, attempts = attempts - $6::integer,
           state = CASE WHEN $3 OR attempts - $6 >= $4 THEN 'failed' ELSE 'requested' END,
           failure = CASE WHEN $3 THEN 'too_large' WHEN attempts - $6 >= $4 THEN 'failed' END,
           expires_at = CASE WHEN $3 OR attempts - $6 >= $4 THEN now() + $5::float8 * interval '1 millisecond' END
         WHERE id = $1 AND lease_token = $2 RETURNING failure`,
        [id, token, isTooLarge, MOST_ATTEMPTS, this.options.lifeMs, isStopped ? 1 : 0],
      );
      if (isTooLarge && rows[0]) await deletePieces(client, id);
      return rows[0]?.failure === 'failed';
    });
    if (hasFailed) this.options.onFailed(id);
  }
}

/** Only with the lease: without it, they are another process's. */
async function deletePieces(client: pg.ClientBase, exportId: string): Promise<void> {
  await client.query('DELETE FROM data_export_pieces WHERE export_id = $1', [exportId]);
}

class TooLarge extends Error {}

/** In pieces of one size, whatever the archive writes at a time. */
async function* inPieces(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let waiting: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    waiting.push(chunk);
    bytes += chunk.length;
    if (bytes < PIECE_BYTES) continue;
    yield Buffer.concat(waiting);
    [waiting, bytes] = [[], 0];
  }
  if (bytes > 0) yield Buffer.concat(waiting);
}

function noteExport(
  client: pg.ClientBase,
  { userId, accountId, requestId }: OwnerRequest,
  { id, action }: { id: string; action: 'account.export_requested' | 'account.export_downloaded' },
): Promise<void> {
  return audit(client, { actor: `user:${userId}`, action, subject: `export:${id}`, accountId, requestId });
}
