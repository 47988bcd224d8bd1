import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DataSource } from 'typeorm';
import { z } from 'zod';
import { type EntityTransaction, inEntityTransaction } from '#database/entity-transaction.js';
import type { Actor } from '#identity/role.js';
import { ApiError } from '#platform/errors.js';
import { newId } from '#platform/ids.js';
import { actionsOn } from '../../test/support/audit.js';
import { openEntities } from '../../test/support/entities.js';
import { until } from '../../test/support/eventually.js';
import { createLedgerFixture, type LedgerFixture } from '../../test/support/ledger.js';
import { race } from '../../test/support/race.js';
import { staffActor } from '../../test/support/staff.js';
import type { Approval } from './approval.entity.js';
import { type ApprovalRequest, ApprovalService } from './approval.service.js';

let ledger: LedgerFixture;
let source: DataSource;
let approvals: ApprovalService;
let asker: Actor;
let other: Actor;
/** IDs of the accounts that something was applied to, and what was reported after commits. */
const reported: unknown[] = [];

beforeAll(async () => {
  ledger = await createLedgerFixture();
  source = await openEntities(ledger);
  approvals = new ApprovalService(source);
  approvals.register({
    kind: 'rename',
    roles: ['finance', 'admin'],
    payload: z.strictObject({ accountId: z.string(), name: z.string() }),
    apply: async (client, { accountId, name }) => {
      const { rowCount } = await client.query('UPDATE accounts SET name = name || $2 WHERE id = $1', [
        accountId,
        name,
      ]);
      if (name === 'refused') throw new ApiError('conflict', 'Not this one.');
      return { renamed: rowCount };
    },
    applied: (outcome) => reported.push(outcome),
  });
  [asker, other] = [await staffActor(ledger, 'finance'), await staffActor(ledger, 'admin')];
});
afterAll(async () => {
  await source.destroy();
  await ledger.close();
});

async function ask(
  of: Partial<ApprovalRequest> & { name?: string } = {},
  service = approvals,
): Promise<Approval> {
  const { name = '+', ...rest } = of;
  const accountId = of.accountId ?? (await ledger.account({ credits: '0' })).accountId;
  const request = {
    kind: 'rename',
    subject: `account:${accountId}`,
    amount: null,
    reason: 'a test',
    actor: asker,
    requestId: newId(),
    payload: { accountId, name },
    ...rest,
    accountId,
  };
  return inEntityTransaction(source, (transaction) => service.request(transaction, request));
}

function decision({ id }: Approval, actor = other) {
  return { approvalId: id, actor, note: null, requestId: newId() };
}

/** How often the account's name was lengthened. */
async function appliedTo({ accountId }: Approval): Promise<number> {
  const { rows } = await ledger.owner.query<{ name: string }>('SELECT name FROM accounts WHERE id = $1', [
    accountId,
  ]);
  return rows[0]!.name.length - accountId!.length;
}

describe('an approval', () => {
  it('of somebody who has left the staff meanwhile can only be rejected', async () => {
    for (const leaves of [`roles = '{user}'`, 'disabled_at = now()']) {
      const gone = await staffActor(ledger, 'finance');
      const approval = await ask({ actor: gone });
      await ledger.owner.query(`UPDATE users SET ${leaves} WHERE id = $1`, [gone.userId]);
      await expect(approvals.approve(decision(approval))).rejects.toMatchObject({ code: 'conflict' });
      expect(await appliedTo(approval)).toBe(0);
      expect(await approvals.reject(decision(approval))).toMatchObject({ state: 'rejected' });
    }
  });

  it('of another version, which this one cannot read, can only be rejected', async () => {
    const another = new ApprovalService(source);
    another.register({ kind: 'rename', roles: [], payload: z.unknown(), apply: () => Promise.resolve() });
    const approval = await ask({ payload: { renames: [] } }, another);
    await expect(approvals.approve(decision(approval))).rejects.toMatchObject({ code: 'conflict' });
    expect(await approvals.reject(decision(approval))).toMatchObject({ state: 'rejected' });
  });

  it('is applied once and reported once if several people approve it at once', async () => {
    const approval = await ask();
    expect(await appliedTo(approval)).toBe(0);
    const third = await staffActor(ledger, 'finance');
    const before = reported.length;
    const ends = [other, third, other].map((actor) => approvals.approve(decision(approval, actor)));
    const { succeeded, refused } = await race(ends);
    // The person who approved twice gets the same answer twice.
    expect([1, 2]).toContain(succeeded);
    expect(new Set(refused)).toEqual(new Set(['conflict']));
    expect(await appliedTo(approval)).toBe(1);
    expect(reported.slice(before)).toEqual([{ renamed: 1 }]);
    expect(await actionsOn(ledger, approval.subject)).toEqual(['approval.requested', 'approval.approved']);
  });

  it('is either approved or rejected if both happen at once', async () => {
    const approval = await ask();
    const third = await staffActor(ledger, 'finance');
    const ends = [approvals.approve(decision(approval)), approvals.reject(decision(approval, third))];
    expect(await race(ends)).toEqual({ succeeded: 1, refused: ['conflict'] });
    const { state } = await approvals.show(approval.id, other);
    expect(await appliedTo(approval)).toBe(state === 'approved' ? 1 : 0);
  });

  it('is decided by someone other than its author, who has a role for it and no interest in it', async () => {
    const approval = await ask({ accountId: other.accountId });
    const second = { code: 'second_person_required' };
    await expect(approvals.approve(decision(approval, asker))).rejects.toMatchObject(second);
    await expect(approvals.approve(decision(approval, other))).rejects.toMatchObject(second);
    const support = await staffActor(ledger, 'support');
    await expect(approvals.reject(decision(approval, support))).rejects.toMatchObject({ code: 'forbidden' });
    await expect(approvals.show(approval.id, support)).rejects.toMatchObject({ code: 'forbidden' });
    expect(await appliedTo(approval)).toBe(0);
  });

  it('whose work is refused stays pending, and leaves nothing behind', async () => {
    const approval = await ask({ name: 'refused' });
    await expect(approvals.approve(decision(approval))).rejects.toMatchObject({ code: 'conflict' });
    expect(await appliedTo(approval)).toBe(0);
    expect(await approvals.show(approval.id, other)).toMatchObject({ state: 'pending', decidedBy: null });
    expect(await approvals.reject(decision(approval))).toMatchObject({ state: 'rejected', outcome: null });
  });

  it('is refused if it does not exist, or has a kind that this program does not know', async () => {
    const unknown = { approvalId: newId(), actor: other, note: null, requestId: newId() };
    await expect(approvals.approve(unknown)).rejects.toMatchObject({ code: 'not_found' });
    const approval = await ask();
    await expect(new ApprovalService(source).show(approval.id, other)).rejects.toMatchObject({
      code: 'conflict',
    });
  });
});

describe('a request for an approval', () => {
  it('exists once per ID, even if it is sent twice at once, and never with different content', async () => {
    const { accountId } = await ledger.account({ credits: '0' });
    const request = { accountId, requestId: newId() };
    const [one, two] = await Promise.all([ask(request), ask(request)]);
    expect(one.id).toBe(two.id);
    await expect(ask({ ...request, name: '++' })).rejects.toMatchObject({
      code: 'conflict',
      param: 'requestId',
    });
    expect(await actionsOn(ledger, one.subject)).toEqual(['approval.requested']);
  });

  it('is the one that the same change waits for, also if both ask at once or name a person', async () => {
    const { accountId } = await ledger.account({ credits: '0' });
    const request = (transaction: EntityTransaction) =>
      approvals.requestOnce(transaction, {
        kind: 'rename',
        subject: `account:${accountId}`,
        accountId,
        payload: { accountId, name: 'for ada@example.com' },
        amount: null,
        reason: 'a test',
        actor: asker,
        requestId: newId(),
      });
    const ask = () => inEntityTransaction(source, request);
    let second: Promise<Approval> | undefined;
    const first = await inEntityTransaction(source, async (transaction) => {
      const asked = await request(transaction);
      let isDone = false;
      second = ask().finally(() => (isDone = true));
      await until('the second to wait, or to be done', async () => {
        const { rows } = await ledger.owner.query<{ waits: boolean }>(
          `SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'advisory') AS waits`,
        );
        return rows[0]!.waits || isDone;
      });
      return asked;
    });
    expect([(await second)?.id, (await ask()).id]).toEqual([first.id, first.id]);
  });

  it('contains no address of a person', async () => {
    const approval = await ask({ reason: 'ada@example.com asked', name: 'for ada@example.com' });
    expect(JSON.stringify(approval)).not.toContain('ada@example.com');
  });

  it('is not created from a payload that its kind does not accept', async () => {
    await expect(ask({ payload: { accountId: 1 } })).rejects.toThrow();
    await expect(ask({ kind: 'none' })).rejects.toThrow('nobody registered');
  });
});

describe('the list of approvals', () => {
  it('has those that the actor may decide, newest first, by state and in pages', async () => {
    const [first, second] = [await ask(), await ask()];
    await approvals.reject(decision(first));
    const list = (of: { state?: 'pending'; beforeId?: string; actor?: Actor }) =>
      approvals.list({ actor: other, limit: 1, beforeId: null, ...of });
    // One more than the limit, which shows that there are more.
    expect((await list({})).map(({ id }) => id)).toEqual([second.id, first.id]);
    const pending = await list({ state: 'pending' });
    expect(pending[0]!.id).toBe(second.id);
    expect(pending.map(({ id }) => id)).not.toContain(first.id);
    expect((await list({ beforeId: second.id }))[0]!.id).toBe(first.id);
    expect(await list({ actor: await staffActor(ledger, 'support') })).toEqual([]);
  });
});
