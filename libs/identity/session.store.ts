import type pg from 'pg';
import { timingSafeEqual } from 'node:crypto';
import { inTransaction } from '#database/database.js';
import { ApiError } from '#platform/errors.js';
import { newId } from '#platform/ids.js';
import type { MailLanguage } from './language.js';
import type { Actor, Role } from './role.js';
import { hashToken, isToken, newToken } from './secret-token.js';

/** A session ends after `idleMs` without a request, and after `longestMs` in any case. */
export interface SessionLife {
  readonly idleMs: number;
  readonly longestMs: number;
  /** A token in use is replaced after this time. */
  readonly rotateMs: number;
  /** How long a confirmation of identity counts. */
  readonly confirmedMs: number;
}

export interface NewSession {
  userId: string;
  ip: string | null;
  userAgent: string | null;
}

export interface OpenedSession {
  sessionId: string;
  /** For the cookie. Only its hash is stored. */
  token: string;
  /** Requests that change something must send this token. */
  csrfToken: string;
}

/** Support staff viewing another person's console. */
export interface ViewedAccount {
  readonly accountId: string;
  readonly name: string;
  readonly until: Date;
}

export interface FoundSession {
  actor: Actor;
  csrfToken: string;
  /** The account whose console the session views, if it is not its own. */
  view: ViewedAccount | null;
  /** The language of its person's mail; null: not chosen. */
  language: MailLanguage | null;
  /** Its person confirmed their identity a moment ago. */
  isConfirmed: boolean;
  /** Its person has a device, and has to enter codes. */
  hasSecondFactor: boolean;
  /** The new token to set, if it was time to replace the old one. */
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
/** Requests with the previous token may still be in progress. */
const PREVIOUS_TOKEN_SECONDS = 60;
const LONGEST_USER_AGENT = 300;

/** Whether a session `s` of a user `u` views another account. A view is limited in time, and ends with the role. */
const IS_VIEW = `(s.viewed_until > now() AND u.roles && '{support,admin}')`;

const FIND_SESSION = `SELECT s.id AS "sessionId", s.user_id AS "userId", s.csrf_token AS "csrfToken", s.token_hash AS "tokenHash",
    u.account_id AS "accountId", u.email, u.roles, u.language, u.totp_confirmed_at IS NOT NULL AS "hasSecondFactor",
    coalesce(s.confirmed_at > now() - $3::float8 * interval '1 millisecond', false) AS "isConfirmed",
    s.rotated_at < now() - $2::float8 * interval '1 millisecond' AS "isOld",
    s.last_seen_at < now() - interval '1 minute' AS "isStale",
    s.viewed_account_id AS "viewedId", v.name AS "viewedName", s.viewed_until AS "viewedUntil"
  FROM sessions s JOIN users u ON u.id = s.user_id
    LEFT JOIN accounts v ON v.id = s.viewed_account_id AND ${IS_VIEW}
  WHERE (s.token_hash = $1 OR (s.previous_token_hash = $1
      AND s.rotated_at > now() - interval '${PREVIOUS_TOKEN_SECONDS} seconds'))
    AND s.revoked_at IS NULL AND s.expires_at > now() AND u.disabled_at IS NULL`;

/** Sessions in the console, by a token of 256 random bits. The database only stores its hash. */
export class SessionStore {
  constructor(
    private readonly pool: pg.Pool,
    private readonly life: SessionLife,
  ) {}

  /**
   * Starts a session, in the caller's transaction or in its own, for a person who has just confirmed their identity,
   * and logs it.
   * @throws ApiError account_closing if the account is to be deleted
   */
  async open(session: NewSession, database: pg.Pool | pg.ClientBase = this.pool): Promise<OpenedSession> {
    const opened = { sessionId: newId(), token: newToken(), csrfToken: newToken() };
    const { rowCount } = await database.query(
      `WITH opened AS (
         INSERT INTO sessions (id, user_id, token_hash, csrf_token, ip, user_agent, expires_at, confirmed_at)
         SELECT $1, u.id, $3::bytea, $4, $5, $6, now() + $7::float8 * interval '1 millisecond', now()
         FROM users u JOIN accounts a ON a.id = u.account_id WHERE u.id = $2 AND a.closing_at IS NULL
         RETURNING id, user_id)
       INSERT INTO audit_log (actor, action, subject, account_id)
       SELECT 'user:' || u.id, 'session.opened', 'session:' || o.id, u.account_id
       FROM opened o JOIN users u ON u.id = o.user_id`,
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
    if (rowCount !== 1) throw new ApiError('account_closing', 'This account is being deleted.');
    return opened;
  }

  /** The active session of a token, extended by this use; null if there is none. */
  async find(token: string): Promise<FoundSession | null> {
    if (!isToken(token)) return null;
    const hash = hashToken(token);
    const { rows } = await this.pool.query<SessionRow>({
      name: 'find-session',
      text: FIND_SESSION,
      values: [hash, this.life.rotateMs, this.life.confirmedMs],
    });
    const row = rows[0];
    if (!row) return null;
    const { sessionId, userId, accountId, email, roles, csrfToken, language, isConfirmed, hasSecondFactor } =
      row;
    const isCurrent = timingSafeEqual(row.tokenHash, hash);
    const newToken = isCurrent && row.isOld ? await this.rotate(sessionId, hash) : null;
    if (newToken === null && row.isStale) await this.prolong(sessionId);
    const actor = { sessionId, userId, accountId, email, roles };
    return { actor, csrfToken, view: viewOf(row), language, isConfirmed, hasSecondFactor, newToken };
  }

  /** Records that the person of a session has just confirmed their identity again. */
  async confirm(sessionId: string, database: pg.Pool | pg.ClientBase = this.pool): Promise<void> {
    await database.query('UPDATE sessions SET confirmed_at = now() WHERE id = $1', [sessionId]);
  }

  /** Earlier confirmations in a person's other sessions no longer count, because more is required from now on. */
  async forgetOtherProofs(client: pg.ClientBase, userId: string, sessionId: string): Promise<void> {
    await client.query('UPDATE sessions SET confirmed_at = NULL WHERE user_id = $1 AND id <> $2', [
      userId,
      sessionId,
    ]);
  }

  /**
   * The active ones among these sessions, each with the account that it shows: its own, or one that it views. This does
   * not extend them.
   */
  async shownAccounts(sessionIds: readonly string[]): Promise<Map<string, string>> {
    const { rows } = await this.pool.query<{ sessionId: string; accountId: string }>({
      name: 'shown-accounts',
      text: `SELECT s.id AS "sessionId",
          CASE WHEN ${IS_VIEW} THEN s.viewed_account_id ELSE u.account_id END AS "accountId"
        FROM sessions s JOIN users u ON u.id = s.user_id
        WHERE s.id = ANY ($1) AND s.revoked_at IS NULL AND s.expires_at > now() AND u.disabled_at IS NULL`,
      values: [sessionIds],
    });
    return new Map(rows.map(({ sessionId, accountId }) => [sessionId, accountId]));
  }

  /** Lets a session view an account for a time, instead of any other. @returns when that ends */
  async beginView(
    client: pg.ClientBase,
    sessionId: string,
    view: { accountId: string; lifeMs: number },
  ): Promise<Date> {
    const { rows } = await client.query<{ until: Date }>(
      `UPDATE sessions SET viewed_account_id = $2, viewed_until = now() + $3::float8 * interval '1 millisecond'
       WHERE id = $1 RETURNING viewed_until AS until`,
      [sessionId, view.accountId, view.lifeMs],
    );
    return rows[0]!.until;
  }

  /** Ends a session's view. @returns the viewed account; null if there was none */
  async endView(client: pg.ClientBase, sessionId: string): Promise<string | null> {
    const { rows } = await client.query<{ accountId: string }>(
      `WITH before AS (SELECT id, viewed_account_id FROM sessions WHERE id = $1 AND viewed_until > now() FOR UPDATE)
       UPDATE sessions s SET viewed_account_id = NULL, viewed_until = NULL FROM before b WHERE s.id = b.id
       RETURNING b.viewed_account_id AS "accountId"`,
      [sessionId],
    );
    return rows[0]?.accountId ?? null;
  }

  /** Ends a session of a person. A repeat changes nothing. @returns whether the session is or was theirs */
  async revoke(userId: string, sessionId: string): Promise<boolean> {
    const { rowCount } = await this.pool.query(
      'UPDATE sessions SET revoked_at = coalesce(revoked_at, now()) WHERE id = $1 AND user_id = $2',
      [sessionId, userId],
    );
    return rowCount === 1;
  }

  /** The active sessions of a person, last used first. */
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

  /** Ends every session of a person, or all but one. @returns how many */
  revokeAll(userId: string, except: string | null): Promise<number> {
    return inTransaction(this.pool, (client) => revokeSessions(client, userId, except));
  }

  /** Of several concurrent requests, one replaces the token. The others continue with the old one. */
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

/** The idle time from now on, within the longest life. */
function expiry(idleMs: string, longestMs: string): string {
  const after = (ms: string) => `${ms}::float8 * interval '1 millisecond'`;
  return `least(now() + ${after(idleMs)}, created_at + ${after(longestMs)})`;
}

function viewOf({ viewedId, viewedName, viewedUntil }: SessionRow): ViewedAccount | null {
  // No name if the view has expired or the role was removed.
  if (viewedId === null || viewedName === null || viewedUntil === null) return null;
  return { accountId: viewedId, name: viewedName, until: viewedUntil };
}

interface SessionRow {
  sessionId: string;
  userId: string;
  csrfToken: string;
  tokenHash: Buffer;
  accountId: string;
  email: string;
  roles: Role[];
  language: MailLanguage | null;
  isConfirmed: boolean;
  hasSecondFactor: boolean;
  isOld: boolean;
  isStale: boolean;
  viewedId: string | null;
  viewedName: string | null;
  viewedUntil: Date | null;
}

/**
 * Ends a person's sessions and withdraws a new email address that is not confirmed yet, because confirming it needs no
 * session.
 */
export async function revokeSessions(
  client: pg.ClientBase,
  userId: string,
  except: string | null = null,
): Promise<number> {
  const { rowCount } = await client.query(
    'UPDATE sessions SET revoked_at = now() WHERE user_id = $1 AND revoked_at IS NULL AND id IS DISTINCT FROM $2',
    [userId, except],
  );
  // Afterwards, to see what a session asked for until it ended.
  await client.query('DELETE FROM email_changes WHERE user_id = $1', [userId]);
  return rowCount ?? 0;
}
