import { timingSafeEqual } from 'node:crypto';
import type pg from 'pg';
import { newId } from '#platform/ids.js';
import type { Actor, Role } from './role.js';
import { hashToken, isToken, newToken } from './secret-token.js';

/** A session ends after this long without a request, and after the second in any case. */
export interface SessionLife {
  readonly idleMs: number;
  readonly longestMs: number;
  /** A token in use is exchanged for a new one after this long. */
  readonly rotateMs: number;
}

export interface NewSession {
  userId: string;
  ip: string | null;
  userAgent: string | null;
}

export interface OpenedSession {
  sessionId: string;
  /** For the cookie; only its hash is stored. */
  token: string;
  /** What requests that change something must send along. */
  csrfToken: string;
}

export interface FoundSession {
  actor: Actor;
  csrfToken: string;
  /** The token to set in place of the one that was sent, when it was time to exchange it. */
  newToken: string | null;
}

export interface ListedSession {
  sessionId: string;
  ip: string | null;
  userAgent: string | null;
  createdAt: Date;
  lastSeenAt: Date;
  expiresAt: Date;
}

/** Nobody reads further, and a script could sign in any number of times. */
const MAX_LISTED = 100;
const MAX_PURGED = 1_000;
/** Requests that were sent with the token before may still be under way. */
const PREVIOUS_TOKEN_SECONDS = 60;
const LONGEST_USER_AGENT = 300;

/** Sessions of people at the console, by a token of 256 random bits of which the database knows the hash. */
export class SessionStore {
  constructor(
    private readonly pool: pg.Pool,
    private readonly life: SessionLife,
  ) {}

  /** Opens a session inside the caller's transaction, or by itself. */
  async open(session: NewSession, database: pg.Pool | pg.ClientBase = this.pool): Promise<OpenedSession> {
    const opened = { sessionId: newId(), token: newToken(), csrfToken: newToken() };
    await database.query(
      `INSERT INTO sessions (id, user_id, token_hash, csrf_token, ip, user_agent, expires_at)
       VALUES ($1, $2, $3, $4, $5, $6, now() + $7::float8 * interval '1 millisecond')`,
      [
        opened.sessionId,
        session.userId,
        hashToken(opened.token),
        opened.csrfToken,
        session.ip,
        session.userAgent?.slice(0, LONGEST_USER_AGENT) ?? null,
        this.life.idleMs,
      ],
    );
    return opened;
  }

  /** The live session of a token, prolonged by this use; null when there is none. */
  async find(token: string): Promise<FoundSession | null> {
    if (!isToken(token)) return null;
    const hash = hashToken(token);
    const { rows } = await this.pool.query<SessionRow>({
      name: 'find-session',
      text: `SELECT s.id AS "sessionId", s.user_id AS "userId", s.csrf_token AS "csrfToken", s.token_hash AS "tokenHash",
          u.account_id AS "accountId", u.email, u.roles,
          s.rotated_at < now() - $2::float8 * interval '1 millisecond' AS "isOld",
          s.last_seen_at < now() - interval '1 minute' AS "isStale"
        FROM sessions s JOIN users u ON u.id = s.user_id
        WHERE (s.token_hash = $1 OR (s.previous_token_hash = $1
            AND s.rotated_at > now() - interval '${PREVIOUS_TOKEN_SECONDS} seconds'))
          AND s.revoked_at IS NULL AND s.expires_at > now() AND u.disabled_at IS NULL`,
      values: [hash, this.life.rotateMs],
    });
    const row = rows[0];
    if (!row) return null;
    const { sessionId, userId, accountId, email, roles, csrfToken } = row;
    const isCurrent = timingSafeEqual(row.tokenHash, hash);
    const newToken = isCurrent && row.isOld ? await this.rotate(sessionId, hash) : null;
    if (newToken === null && row.isStale) await this.prolong(sessionId);
    return { actor: { sessionId, userId, accountId, email, roles }, csrfToken, newToken };
  }

  /** Ends a session of a person; a repeat changes nothing. @returns whether the person has or had it. */
  async revoke(userId: string, sessionId: string): Promise<boolean> {
    const { rowCount } = await this.pool.query(
      'UPDATE sessions SET revoked_at = coalesce(revoked_at, now()) WHERE id = $1 AND user_id = $2',
      [sessionId, userId],
    );
    return rowCount === 1;
  }

  /** The live sessions of a person, the last used first. */
  async list(userId: string): Promise<ListedSession[]> {
    const { rows } = await this.pool.query<ListedSession>(
      `SELECT id AS "sessionId", ip, user_agent AS "userAgent", created_at AS "createdAt", last_seen_at AS "lastSeenAt",
         expires_at AS "expiresAt"
       FROM sessions WHERE user_id = $1 AND revoked_at IS NULL AND expires_at > now()
       ORDER BY last_seen_at DESC, id LIMIT ${MAX_LISTED}`,
      [userId],
    );
    return rows;
  }

  /** Removes sessions that ended long ago, some at a time. */
  async purge(): Promise<void> {
    await this.pool.query(
      `DELETE FROM sessions WHERE ctid = ANY (ARRAY(SELECT ctid FROM sessions
         WHERE least(expires_at, revoked_at) < now() - interval '7 days' LIMIT ${MAX_PURGED} FOR UPDATE SKIP LOCKED))`,
    );
  }

  /** Ends every session of a person, or all but one. @returns how many. */
  async revokeAll(userId: string, except: string | null, database: pg.Pool | pg.ClientBase = this.pool) {
    const { rowCount } = await database.query(
      'UPDATE sessions SET revoked_at = now() WHERE user_id = $1 AND revoked_at IS NULL AND id IS DISTINCT FROM $2',
      [userId, except],
    );
    return rowCount ?? 0;
  }

  /** Of several requests at the same moment, one exchanges the token; the others go on with the one before. */
  private async rotate(sessionId: string, hash: Buffer): Promise<string | null> {
    const token = newToken();
    const { rowCount } = await this.pool.query(
      `UPDATE sessions SET previous_token_hash = token_hash, token_hash = $3, rotated_at = now(), last_seen_at = now(),
         expires_at = ${expiry('$4', '$5')}
       WHERE id = $1 AND token_hash = $2`,
      [sessionId, hash, hashToken(token), this.life.idleMs, this.life.longestMs],
    );
    return rowCount === 1 ? token : null;
  }

  private async prolong(sessionId: string): Promise<void> {
    await this.pool.query(
      `UPDATE sessions SET last_seen_at = now(), expires_at = ${expiry('$2', '$3')}
       WHERE id = $1`,
      [sessionId, this.life.idleMs, this.life.longestMs],
    );
  }
}

/** The idle time from now on, but not beyond the longest life. */
function expiry(idleMs: string, longestMs: string): string {
  const after = (ms: string) => `${ms}::float8 * interval '1 millisecond'`;
  return `least(now() + ${after(idleMs)}, created_at + ${after(longestMs)})`;
}

interface SessionRow {
  sessionId: string;
  userId: string;
  csrfToken: string;
  tokenHash: Buffer;
  accountId: string;
  email: string;
  roles: Role[];
  isOld: boolean;
  isStale: boolean;
}
