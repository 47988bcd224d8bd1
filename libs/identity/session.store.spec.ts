import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type pg from 'pg';
import { openPool } from '#database/database.js';
import { newId } from '#platform/ids.js';
import { until } from '../../test/support/eventually.js';
import { createTestDatabase, type TestDatabase } from '../../test/support/database.js';
import { type OpenedSession, SessionStore } from './session.store.js';

const HOUR = 3_600_000;

let database: TestDatabase;
let pool: pg.Pool;
let sessions: SessionStore;
let userId: string;
let opened: OpenedSession;

beforeAll(async () => {
  database = await createTestDatabase();
  pool = openPool({ url: database.urlFor('billing'), max: 6, applicationName: 'test' });
  sessions = new SessionStore(pool, {
    idleMs: 2 * HOUR,
    longestMs: 24 * HOUR,
    rotateMs: HOUR,
    confirmedMs: HOUR,
  });
  userId = newId();
  const accountId = newId();
  await pool.query('INSERT INTO accounts (id, name, invite_code) VALUES ($1, $1, $2)', [accountId, newId()]);
  await pool.query('INSERT INTO users (id, account_id, email, password_hash) VALUES ($1, $2, $3, $4)', [
    userId,
    accountId,
    'someone@example.com',
    'none',
  ]);
});

afterAll(async () => {
  await pool?.end();
  await database?.drop();
});

beforeEach(async () => {
  opened = await sessions.open({ userId, ip: null, userAgent: null });
});

/** Makes time pass for the session by moving its own times back. */
async function later(column: 'rotated_at' | 'last_seen_at' | 'expires_at', ms: number): Promise<void> {
  await pool.query(
    `UPDATE sessions SET ${column} = ${column} - $2::float8 * interval '1 millisecond' WHERE id = $1`,
    [opened.sessionId, ms],
  );
}

describe('a session', () => {
  it('is found by its token, of which only the hash is stored', async () => {
    expect(await sessions.find(opened.token)).toMatchObject({
      actor: { userId, sessionId: opened.sessionId },
      csrfToken: opened.csrfToken,
      newToken: null,
    });
    const { rows } = await pool.query('SELECT * FROM sessions WHERE id = $1', [opened.sessionId]);
    expect(JSON.stringify(rows)).not.toContain(opened.token);
    expect(await sessions.find('x'.repeat(43))).toBeNull();
    expect(await sessions.find('no token')).toBeNull();
  });

  it('exchanges a token that was in use for long; the previous one works for a moment longer', async () => {
    await later('rotated_at', HOUR + 1);
    const newToken = (await sessions.find(opened.token))?.newToken;
    expect(newToken).toMatch(/^[A-Za-z0-9_-]{43}$/);
    expect(newToken).not.toBe(opened.token);
    expect(await sessions.find(newToken ?? '')).toMatchObject({
      csrfToken: opened.csrfToken,
      newToken: null,
    });
    expect(await sessions.find(opened.token)).toMatchObject({ newToken: null });
    await later('rotated_at', 61_000);
    expect(await sessions.find(opened.token)).toBeNull();
    expect(await sessions.find(newToken ?? '')).not.toBeNull();
  });

  it('exchanges it once for many requests at the same moment, and turns none of them away', async () => {
    await later('rotated_at', HOUR + 1);
    const found = await Promise.all(Array.from({ length: 20 }, () => sessions.find(opened.token)));
    expect(found.every((session) => session !== null)).toBe(true);
    expect(found.filter((session) => session?.newToken)).toHaveLength(1);
  });

  it('ends if unused, is extended by use, and ends at its maximum in any case', async () => {
    await later('expires_at', HOUR);
    await later('last_seen_at', 61_000);
    await sessions.find(opened.token);
    const { rows } = await pool.query<{ left: number; longest: boolean }>(
      `SELECT extract(epoch FROM expires_at - now())::float8 AS left FROM sessions WHERE id = $1`,
      [opened.sessionId],
    );
    expect(rows[0]?.left).toBeGreaterThan(1.9 * 3_600);
    await later('expires_at', 2 * HOUR);
    expect(await sessions.find(opened.token)).toBeNull();

    const short = new SessionStore(pool, {
      idleMs: 2 * HOUR,
      longestMs: 1,
      rotateMs: HOUR,
      confirmedMs: HOUR,
    });
    const other = await short.open({ userId, ip: null, userAgent: null });
    await pool.query(`UPDATE sessions SET last_seen_at = now() - interval '2 minutes' WHERE id = $1`, [
      other.sessionId,
    ]);
    await short.find(other.token);
    // A millisecond is over at once, and no use extends it.
    await until('the session to end', async () => (await short.find(other.token)) === null);
  });

  it('ends when it is revoked, alone or with all others', async () => {
    const other = await sessions.open({ userId, ip: null, userAgent: null });
    await sessions.revoke(userId, opened.sessionId);
    expect(await sessions.find(opened.token)).toBeNull();
    expect(await sessions.find(other.token)).not.toBeNull();
    await sessions.revokeAll(userId, null);
    expect(await sessions.find(other.token)).toBeNull();
  });
});
