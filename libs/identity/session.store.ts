import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type pg from 'pg';
import { newId } from '#platform/ids.js';
import type { Actor, Role } from './role.js';

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

/** Requests that were sent with the token before may still be under way. */
const PREVIOUS_TOKEN_SECONDS = 60;
const LONGEST_USER_AGENT = 300;
const TOKEN_SHAPE = /^[A-Za-z0-9_-]{43}$/;

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
    if (!TOKEN_SHAPE.test(token)) return null;
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

  /** Ends a session; a repeat changes nothing. */
  async revoke(sessionId: string): Promise<void> {
    await this.pool.query('UPDATE sessions SET revoked_at = coalesce(revoked_at, now()) WHERE id = $1', [
      sessionId,
    ]);
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

function newToken(): string {
  return randomBytes(32).toString('base64url');
}

function hashToken(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
