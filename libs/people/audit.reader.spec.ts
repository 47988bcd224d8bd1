import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inTransaction } from '#database/database.js';
import { audit } from '#identity/audit-log.js';
import type { Actor } from '#identity/role.js';
import { createLedgerFixture, type LedgerFixture } from '../../test/support/ledger.js';
import { staffActor } from '../../test/support/staff.js';
import { type AuditLine, type AuditQuery, AuditReader } from './audit.reader.js';

let ledger: LedgerFixture;
let reader: AuditReader;
let actors: [Actor, Actor];

beforeAll(async () => {
  ledger = await createLedgerFixture();
  reader = new AuditReader(ledger.billing);
  actors = [await staffActor(ledger, 'admin'), await staffActor(ledger, 'support')];
  const [one, two] = actors;
  for (const [actor, action, subject] of [
    [one, 'model.changed', 'model:a'],
    [two, 'model.changed', 'model:b'],
    [one, 'prices.proposed', 'model:a'],
    [two, 'prices.proposed', 'model:b'],
    [one, 'prices.confirmed', 'model:b'],
  ] as const)
    await inTransaction(ledger.billing, (client) =>
      audit(client, {
        actor: `user:${actor.userId}`,
        action,
        subject,
        accountId: actor.accountId,
        after: { by: actor.email },
        requestId: null,
      }),
    );
  await inTransaction(ledger.billing, (client) =>
    audit(client, { actor: 'cli:root', action: 'model.changed', subject: 'model:a', requestId: 'r' }),
  );
});
afterAll(() => ledger.close());

async function pages(query: Omit<AuditQuery, 'limit' | 'cursor'>, limit = 50): Promise<AuditLine[]> {
  const all: AuditLine[] = [];
  for (let cursor: string | undefined; ;) {
    const { items, nextCursor } = await reader.list({ ...query, limit, cursor });
    all.push(...items);
    if (nextCursor === null) return all;
    cursor = nextCursor;
  }
}

describe('the audit log', () => {
  it('is the same in pages of any size, newest first', async () => {
    const all = await pages({});
    expect(all.map(({ action }) => action)).toEqual([
      'model.changed',
      'prices.confirmed',
      'prices.proposed',
      'prices.proposed',
      'model.changed',
      'model.changed',
    ]);
    expect(await pages({}, 1)).toEqual(all);
    expect(await pages({}, 4)).toEqual(all);
  });

  it('is filtered by subject, actor, account and action, alone and together', async () => {
    const all = await pages({});
    const [one, two] = actors;
    const by = `user:${one.userId}`;
    const { accountId } = two;
    for (const [query, fits] of [
      [{ subject: 'model:a' }, ({ subject }: AuditLine) => subject === 'model:a'],
      [{ actor: by }, ({ actor }: AuditLine) => actor === by],
      [{ accountId }, (line: AuditLine) => line.accountId === accountId],
      [{ action: 'model.changed' }, ({ action }: AuditLine) => action === 'model.changed'],
      [
        { subject: 'model:b', actor: by },
        ({ subject, actor }: AuditLine) => subject === 'model:b' && actor === by,
      ],
    ] as const) {
      const meant = all.filter(fits);
      expect(meant.length).toBeGreaterThan(0);
      expect(await pages(query, 1)).toEqual(meant);
    }
    expect(await pages({ subject: 'model:%' })).toEqual([]);
  });

  it('names who acted by their current address, and a program by none', async () => {
    const [one] = actors;
    await ledger.owner.query(`UPDATE users SET email = 'moved@example.com' WHERE id = $1`, [one.userId]);
    const [line] = await pages({ actor: `user:${one.userId}` });
    expect(line).toMatchObject({ actorEmail: 'moved@example.com', before: null, requestId: null });
    // What was recorded contains no address.
    expect(JSON.stringify(line!.after)).not.toContain('@');
    expect((await pages({ actor: 'cli:root' }))[0]).toMatchObject({ actorEmail: null, requestId: 'r' });
  });

  it.each(['x', Buffer.from('["1; DROP"]').toString('base64url')])(
    'accepts no cursor as %s',
    async (cursor) => {
      await expect(reader.list({ limit: 1, cursor })).rejects.toMatchObject({
        code: 'invalid_value',
        param: 'cursor',
      });
    },
  );
});
