import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inTransaction } from '#database/database.js';
import { createLedgerFixture, type LedgerFixture } from '../../../test/support/ledger.js';
import { chargesTasksControl } from '../controls/charges-tasks.control.js';
import { acknowledgeFinding, type Finding, listFindings } from '../findings.js';
import { reconcile } from '../reconciler.js';
import { inSnapshot } from '../snapshot.js';
import {
  FAULTY_WORK,
  readWork,
  readWorkDays,
  type WorkItem,
  type WorkQuery,
  type WorkState,
} from './charges-tasks.js';

/** Every combination of a charge and a task, planted past all rules: each in January 2026, an hour after the previous one. */

let fixture: LedgerFixture;
let customer: { accountId: string; keyId: string };

type ChargeState = 'held' | 'settled' | 'released' | 'refused';
type TaskState = 'completed' | 'failed' | 'refused' | 'submitted';

const PAIRS: [name: string, charge: ChargeState | null, task: TaskState | null, WorkState][] = [
  ['a', 'settled', 'completed', 'matched'],
  ['b', 'released', 'failed', 'matched'],
  ['c', 'refused', 'refused', 'matched'],
  ['d', 'held', 'submitted', 'running'],
  ['e', 'settled', 'failed', 'failed_and_settled'],
  ['f', 'held', 'failed', 'failed_without_release'],
  ['g', 'released', 'completed', 'late'],
  ['h', 'held', 'completed', 'work_without_charge'],
  ['j', 'settled', 'submitted', 'charged_without_work'],
  ['k', 'settled', null, 'task_missing'],
  ['m', null, 'completed', 'work_without_charge'],
  ['n', null, 'failed', 'charge_missing'],
  ['p', 'held', 'refused', 'charged_without_work'],
];
/** Work with a waiting client. */
const DIRECT: [
  name: string,
  charge: ChargeState | null,
  status: number,
  answered: number | null,
  WorkState,
][] = [
  ['q', 'settled', 200, null, 'matched'],
  ['r', 'settled', 500, null, 'charged_without_work'],
  ['s', 'settled', 200, 502, 'charged_without_work'],
  ['t', 'released', 500, 200, 'work_without_charge'],
  ['v', 'released', 500, 502, 'matched'],
  ['w', null, 200, 200, 'work_without_charge'],
  ['x', 'held', 200, null, 'running'],
];

const taskOf = (name: string): string => `01k${'0'.repeat(22)}${name}`;

const RANGE = {
  from: new Date('2026-01-01T00:00:00Z'),
  to: new Date('2026-02-01T00:00:00Z'),
  graceMs: 60_000,
};

beforeAll(async () => {
  fixture = await createLedgerFixture();
  customer = await fixture.account({ credits: '0' });
  let hour = 0;
  for (const [name, charge, task] of PAIRS) {
    const at = new Date(RANGE.from.getTime() + 3_600_000 * ++hour);
    if (charge) await insertCharge(name, { state: charge, at, taskId: name });
    if (task) await insertTask(name, task, at);
  }
  for (const [name, charge, status, answered] of DIRECT) {
    const at = new Date(RANGE.from.getTime() + 3_600_000 * ++hour);
    if (charge) await insertCharge(name, { state: charge, at, taskId: null, status });
    if (answered !== null) await insertAnswer(name, answered, at);
  }
});
afterAll(() => fixture?.close());

async function insertCharge(
  name: string,
  of: { state: ChargeState; at: Date; taskId: string | null; status?: number },
): Promise<void> {
  const [isSettled, isReleased] = [of.state === 'settled', of.state === 'released'];
  await fixture.owner.query(
    `INSERT INTO charges (id, account_id, state, amount, settled, released, task_id, channel_id, upstream_status, created_at,
       resolved_at, refusal_code, model_id)
     VALUES ($1, $2, $3, 40, $4, $5, $6, 'sandbox', $7, $8, $9, $10, 'model')`,
    [
      `charge-${name}`,
      customer.accountId,
      of.state,
      isSettled ? 40 : isReleased ? 0 : null,
      isSettled ? 0 : isReleased ? 40 : null,
      of.taskId && taskOf(of.taskId),
      of.status ?? 200,
      of.at,
      isSettled || isReleased ? of.at : null,
      of.state === 'refused' ? 'no' : null,
    ],
  );
}

async function insertTask(name: string, state: TaskState, at: Date): Promise<void> {
  await fixture.owner.query(
    `INSERT INTO tasks (id, kind, account_id, key_id, charge_id, dialect, state, model_id, requested_model, request, seconds,
       file_key, channel_id, deadline, created_at, ended_at)
     VALUES ($1, 'video', $2, $3, $4, 'openai', $5, 'model', 'model', '{}', 2, 'file', 'sandbox', $6, $6, $7)`,
    [
      taskOf(name),
      customer.accountId,
      customer.keyId,
      `charge-${name}`,
      state,
      at,
      state === 'submitted' ? null : at,
    ],
  );
}

async function insertAnswer(name: string, status: number, at: Date): Promise<void> {
  await fixture.owner.query(
    `INSERT INTO idempotency_keys (key_id, idempotency_key, content_hash, charge_id, state, lease_until, status, answer, created_at,
       expires_at) VALUES ($1, $2, sha256('x'), $2, 'answered', $4, $3, 'x', $4, now() + interval '1 day')`,
    [customer.keyId, `charge-${name}`, status, at],
  );
}

const expected = [
  ...PAIRS.map(([name, , task, state]) => [task ? `task:${taskOf(name)}` : `charge:charge-${name}`, state]),
  ...DIRECT.map(([name, , , , state]) => [`charge:charge-${name}`, state]),
] as [string, WorkState][];

async function everything(limit: number, states: readonly WorkState[] | null = null): Promise<WorkItem[]> {
  const items: WorkItem[] = [];
  for (let after: WorkItem | null = null; ;) {
    const query: WorkQuery = { ...RANGE, states, limit, after };
    const page: WorkItem[] = await inSnapshot(fixture.billing, (client) => readWork(client, query));
    items.push(...page);
    after = page.at(-1) ?? null;
    if (page.length < limit) return items;
  }
}

describe('charges against tasks and requests', () => {
  it('show the state of each, newest first, in pages', async () => {
    const items = await everything(3);
    expect(items.map(({ subject, state }) => [subject, state])).toEqual([...expected].reverse());
    const filtered = await everything(2, ['late', 'running']);
    expect(filtered.map(({ subject }) => subject)).toEqual([
      'charge:charge-x',
      `task:${taskOf('g')}`,
      `task:${taskOf('d')}`,
    ]);
    expect(items.find(({ subject }) => subject === `task:${taskOf('e')}`)).toMatchObject({
      chargeId: 'charge-e',
      chargeState: 'settled',
      taskId: taskOf('e'),
      taskState: 'failed',
      amount: 40n,
      settled: 40n,
      channel: 'sandbox',
      accountId: customer.accountId,
    });
  });

  it('are counted by day and state', async () => {
    const days = await inSnapshot(fixture.billing, (client) => readWorkDays(client, RANGE));
    expect(days.reduce((sum, { items }) => sum + items, 0n)).toBe(BigInt(expected.length));
    expect(days.filter(({ state }) => state === 'matched')).toEqual([
      { day: '2026-01-01', state: 'matched', items: 5n, amount: 200n, settled: 80n },
    ]);
    const later = { ...RANGE, from: new Date('2026-01-01T15:30:00Z') };
    const some = await inSnapshot(fixture.billing, (client) => readWorkDays(client, later));
    expect(some.reduce((sum, { items }) => sum + items, 0n)).toBe(5n);
  });

  it('make a control of faults, the same for recent items as for all, without young contradictions', async () => {
    const faulty = expected
      .filter(([, state]) => FAULTY_WORK.some((each) => each === state))
      .map(([subject]) => subject);
    const found = async (since: string | null, more: { before?: string; graceMs?: number } = {}) => {
      const { count, items } = await inSnapshot(fixture.billing, (client) =>
        chargesTasksControl.check(client, {
          horizon: { at: 'infinity', lastLedgerId: 0n },
          limit: 100,
          scope: since === null ? 'whole' : 'recent',
          since,
          before: more.before ?? null,
          graceMs: more.graceMs ?? 0,
        }),
      );
      expect(count).toBe(items.length);
      return items.map(({ subject }) => subject).sort();
    };
    expect(await found(null)).toEqual([...faulty].sort());
    expect(await found('2026-01-01T00:00:00Z')).toEqual([...faulty].sort());
    expect(await found('2026-01-01T11:30:00Z')).toEqual(
      faulty.filter((subject) => /[n-z]$/.test(subject)).sort(),
    );
    expect(await found(null, { before: '2026-01-01T05:30:00Z' })).toEqual([`task:${taskOf('e')}`]);
    expect(await found(null, { graceMs: 1e13 })).toEqual([]);
  });

  it('stay open when the answer that revealed them is deleted, until someone notes the outcome', async () => {
    const look = async () => {
      const run = await reconcile(fixture.billing, [chargesTasksControl], {
        graceMs: 0,
        limitMs: 60_000,
        keepMs: 60_000,
        askedBy: 'system',
      });
      expect(run?.outcomes[0]).toMatchObject({ error: null });
      const query = { control: chargesTasksControl.id, state: 'open', limit: 100, after: null } as const;
      return listFindings(fixture.billing, query);
    };
    const byAnswer = (open: Finding[]) =>
      open.filter(({ details }) => details['answered'] != null).map(({ subject }) => subject);
    const all = ['charge:charge-w', 'charge:charge-t', 'charge:charge-s'];
    expect(byAnswer(await look()).sort()).toEqual([...all].sort());
    await fixture.owner.query('DELETE FROM idempotency_keys');
    const open = await look();
    expect(byAnswer(open).sort()).toEqual([...all].sort());
    const { rows } = await fixture.owner.query<{ id: string }>(
      `INSERT INTO users (id, account_id, email, password_hash) VALUES ('u', $1, 'f@example.com', 'x') RETURNING id`,
      [customer.accountId],
    );
    const acknowledge = async (subject: string, note: string | null) => {
      const { id: findingId, control } = open.find((each) => each.subject === subject) as Finding;
      await inTransaction(fixture.billing, (client) =>
        acknowledgeFinding(client, { control, findingId, userId: rows[0]!.id, note, requestId: 'r' }),
      );
    };
    await acknowledge('charge:charge-w', null);
    await acknowledge('charge:charge-t', 'It was ours: nobody pays.');
    expect(byAnswer(await look()).sort()).toEqual(['charge:charge-s', 'charge:charge-w']);
    await fixture.owner.query(`DELETE FROM control_findings`);
  });

  it.each([
    ['', []],
    [`UPDATE tasks SET submitting_at = created_at`, [`task:${taskOf('n')}`]],
    [`UPDATE charges SET refusal_code = 'insufficient_user_quota'`, [`task:${taskOf('n')}`]],
    [`UPDATE charges SET account_id = 'other'`, [`task:${taskOf('n')}`]],
  ])('agree if a task failed before its hold was released, and never after %s', async (change, missing) => {
    const client = await fixture.owner.connect();
    try {
      await client.query(`BEGIN; SET LOCAL timezone = 'UTC'; SET LOCAL session_replication_role = replica`);
      await client.query(
        `INSERT INTO charges (id, account_id, state, refusal_code, refusal_message, created_at)
         SELECT charge_id, account_id, 'refused', 'abandoned', '', created_at FROM tasks WHERE id = $1`,
        [taskOf('n')],
      );
      const column = change.includes('tasks') ? 'charge_id' : 'id';
      if (change !== '') await client.query(`${change} WHERE ${column} = 'charge-n'`);
      const items = await readWork(client, {
        ...RANGE,
        states: ['charge_missing'],
        limit: 100,
        after: null,
      });
      expect(items.map(({ subject }) => subject)).toEqual(missing);
    } finally {
      await client.query('ROLLBACK');
      client.release();
    }
  });

  it('read a task that is older than its charge, and a charge that is older than its task', async () => {
    const client = await fixture.owner.connect();
    try {
      await client.query('BEGIN');
      await client.query('SET LOCAL session_replication_role = replica');
      await client.query(
        `UPDATE tasks SET created_at = '2025-12-01', ended_at = '2025-12-02' WHERE id = '${taskOf('a')}'`,
      );
      await client.query(
        `UPDATE charges SET created_at = '2025-12-01', resolved_at = '2025-12-02' WHERE id = 'charge-b'`,
      );
      await client.query(`SET LOCAL timezone = 'UTC'`);
      const items = await readWork(client, { ...RANGE, states: null, limit: 100, after: null });
      const stateOf = (id: string) => items.find(({ subject }) => subject === id)?.state;
      expect(
        items.filter(({ state }) => state === 'task_missing' || state === 'charge_missing'),
      ).toHaveLength(2);
      // By the time of its task, it belongs to December.
      expect(stateOf(`task:${taskOf('a')}`)).toBeUndefined();
      expect(stateOf(`task:${taskOf('b')}`)).toBe('matched');
    } finally {
      await client.query('ROLLBACK');
      client.release();
    }
  });
});
