import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import cookie from '@fastify/cookie';
import fastify, { type FastifyInstance } from 'fastify';
import type { Role } from '#identity/role.js';
import { SecondFactor } from '#identity/second-factor.js';
import { type OpenedSession, SessionStore } from '#identity/session.store.js';
import { createLedgerFixture, type LedgerFixture } from '../../../test/support/ledger.js';
import { staffMember } from '../../../test/support/staff.js';
import { SessionCookie } from './session-cookie.js';
import { SessionReader } from './session.reader.js';

const HOUR_MS = 3_600_000;

let ledger: LedgerFixture;
let sessions: SessionStore;
let server: FastifyInstance;
const sessionCookie = new SessionCookie({ secure: true });

beforeAll(async () => {
  ledger = await createLedgerFixture();
  sessions = new SessionStore(ledger.billing, {
    idleMs: HOUR_MS,
    longestMs: HOUR_MS,
    rotateMs: HOUR_MS,
    confirmedMs: HOUR_MS,
  });
  const reader = new SessionReader(sessions, sessionCookie, new SecondFactor('required'));
  server = fastify();
  await server.register(cookie);
  server.get('/', async (request, reply) => ({ session: await reader.read(request, reply) }));
});
afterAll(async () => {
  await server.close();
  await ledger.close();
});

async function open(...roles: Role[]): Promise<OpenedSession & { userId: string }> {
  const { userId } = await staffMember(ledger, ...roles);
  return { userId, ...(await sessions.open({ userId, ip: null, userAgent: null })) };
}

async function read(token?: string) {
  const cookies: Record<string, string> = token === undefined ? {} : { [sessionCookie.name]: token };
  const answer = await server.inject({ url: '/', cookies });
  return { session: answer.json<{ session: unknown }>().session, set: answer.cookies };
}

describe('a request’s session', () => {
  let opened: Awaited<ReturnType<typeof open>>;
  beforeEach(async () => {
    opened = await open('finance');
  });

  it('is the one in its cookie, with its person’s rights', async () => {
    const { userId, csrfToken, sessionId } = opened;
    const { session, set } = await read(opened.token);
    expect(session).toMatchObject({
      actor: { userId, sessionId, roles: ['user', 'finance'] },
      csrfToken,
      view: null,
      secondFactor: 'required',
    });
    expect(set).toEqual([]);
    expect((await read((await open()).token)).session).toMatchObject({ secondFactor: 'off' });
  });

  it('is nobody’s without a cookie, or with one that opens nothing', async () => {
    expect((await read()).session).toBeNull();
    expect((await read('x'.repeat(43))).session).toBeNull();
  });

  it('exchanges a token that was in use for long for one that scripts and other hosts cannot reach', async () => {
    await ledger.owner.query(
      `UPDATE sessions SET rotated_at = rotated_at - $2::float8 * interval '1 millisecond' WHERE id = $1`,
      [opened.sessionId, HOUR_MS + 1],
    );
    const { session, set } = await read(opened.token);
    expect(session).toMatchObject({ actor: { userId: opened.userId } });
    expect(set).toMatchObject([
      { name: '__Host-tollgate_session', path: '/', httpOnly: true, secure: true, sameSite: 'Lax' },
    ]);
    expect(set[0]!.value).not.toBe(opened.token);
    expect((await read(set[0]!.value)).session).toMatchObject({ actor: { sessionId: opened.sessionId } });
  });
});
