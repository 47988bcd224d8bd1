import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type pg from 'pg';
import { loadPriceBook } from '#catalog/catalog.store.js';
import { inTransaction } from '#database/database.js';
import { transferInvite } from '#ledger/postings/invite-transfer.js';
import { chargeIdOf } from '#ledger/charges/charge-ids.js';
import { PostingEngine } from '#ledger/charges/posting-engine.js';
import { parseAmount } from '#money/amount.js';
import { newId } from '#platform/ids.js';
import { priceCredits } from '#topup/conversion.js';
import { unsaid } from '../../../test/support/finding-words.js';
import { createLedgerFixture, type LedgerFixture } from '../../../test/support/ledger.js';
import { recordTopup } from '../../../test/support/topups.js';
import { runControlsOn } from '../control-run.js';
import type { Control } from '../control.js';
import { chargesTasksControl } from './charges-tasks.control.js';
import { holdsControl } from './holds.control.js';
import { ledgerControl } from './ledger.control.js';
import { promotionControl } from './promotion.control.js';
import { refundLatencyControl } from './refund-latency.control.js';

let ledger: LedgerFixture;
let engine: PostingEngine;
let customer: { accountId: string; keyId: string };

beforeAll(async () => {
  ledger = await createLedgerFixture();
  const { billing: pool, log } = ledger;
  engine = new PostingEngine({ pool, loadPriceBook: (client) => loadPriceBook(client), log });
  customer = await ledger.account({ credits: '100' });
});
afterAll(async () => {
  await engine?.close();
  await ledger?.close();
});

const GRACE_MS = 60_000;
const all = [chargesTasksControl, holdsControl, refundLatencyControl, promotionControl, ledgerControl];

type Ended = 'delivered' | 'failed' | 'held';

/** A charge of 0.04 for two images or seconds, with the given task's row if there is one. */
async function charge(
  ended: Ended,
  task?: string,
  answer: { channel?: string | null; status?: number; requestId?: string } = {},
) {
  const { requestId } = answer;
  const chargeId = requestId === undefined ? newId() : chargeIdOf(requestId, 1);
  const taskId = task === undefined ? null : newId();
  const { accountId, keyId } = customer;
  if (taskId !== null) await insertTask({ taskId, chargeId, state: task as string });
  await engine.hold({
    chargeId,
    accountId,
    keyId,
    taskId,
    requestId: requestId ?? chargeId,
    model: 'vendora-imagine-image',
    requestedModel: 'vendora-imagine-image',
    group: 'Vendora-Main',
    units: 2n,
    quotedAmount: parseAmount('0.04'),
    expiresAtMs: Date.now() + 60_000,
    deadlineMs: taskId === null ? Date.now() + 60_000 : null,
  });
  if (ended !== 'held') {
    const { channel = 'sandbox', status = 200 } = answer;
    await engine.resolve({
      chargeId,
      accountId,
      outcome: ended,
      deliveredUnits: null,
      channel,
      reason: null,
      upstreamStatus: status,
      latencyMs: 5,
    });
  }
  return { chargeId, taskId: taskId ?? '' };
}

/** Releases the charge of failed work. */
const failed = (chargeId: string) => ({
  chargeId,
  accountId: customer.accountId,
  outcome: 'failed' as const,
  deliveredUnits: null,
  channel: null,
  reason: null,
  upstreamStatus: null,
  latencyMs: null,
});

async function insertTask({ taskId, chargeId, state }: { taskId: string; chargeId: string; state: string }) {
  const { accountId, keyId } = customer;
  await ledger.owner.query(
    `INSERT INTO tasks (id, kind, account_id, key_id, charge_id, dialect, state, model_id, requested_model, request, seconds,
       file_key, channel_id, deadline, ended_at)
     VALUES ($1, 'video', $2, $3, $4, 'openai', $5, 'vendora-imagine-video', 'vendora-imagine-video', '{}', 2, 'file', 'sandbox',
       now() + interval '1 hour', CASE WHEN $5 IN ('completed', 'failed', 'refused') THEN now() END)`,
    [taskId, accountId, keyId, chargeId, state],
  );
}

/** Moves rows into the past, beyond the grace period. */
const AGE = `UPDATE tasks SET ended_at = ended_at - interval '1 hour', created_at = created_at - interval '1 hour',
    deadline = deadline - interval '2 hours';
  UPDATE charges SET created_at = created_at - interval '1 hour', resolved_at = resolved_at - interval '1 hour',
    deadline = deadline - interval '1 hour'`;

/** Findings after an intruder with every right planted a fault. It is rolled back afterwards. */
async function findAfter(
  sql: string,
  control: Control | readonly Control[],
  { values = [], before = null }: { values?: unknown[]; before?: string | null } = {},
) {
  const client = await ledger.owner.connect();
  try {
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
    await client.query('SET LOCAL session_replication_role = replica');
    if (sql !== '') await client.query(sql, values);
    return await checked(client, [control].flat(), before);
  } finally {
    await client.query('ROLLBACK');
    client.release();
  }
}

/** The postings of each finding's charges, if a test knows them. */
let named: readonly bigint[] | null = null;
beforeEach(() => {
  named = null;
});

async function checked(client: pg.PoolClient, controls: readonly Control[], before: string | null = null) {
  const horizon = { at: 'infinity', lastLedgerId: 0n };
  const options = { controls, before, graceMs: GRACE_MS, limitMs: 60_000 };
  const outcomes = await runControlsOn({ client, horizon }, options);
  return outcomes.flatMap(({ control, result, error }) => {
    if (!result) return [`${control.id}: ${error}`];
    expect(result.count).toBe(result.items.length);
    expect(result.items.flatMap((item) => unsaid(control, item))).toEqual([]);
    for (const { transactionIds } of result.items) expect(transactionIds).toEqual(named ?? expect.any(Array));
    return result.items.map(({ subject, state }) => `${control.id}: ${subject} ${state}`);
  });
}

describe('controls of work', () => {
  it('find nothing if all is well, however old', async () => {
    await charge('delivered');
    await charge('failed');
    await charge('delivered', 'completed');
    await charge('failed', 'failed');
    expect(await findAfter(AGE, all)).toEqual([]);
    expect(await findAfter('', all)).toEqual([]);
  });

  it('find work in progress only if it is older than the grace period', async () => {
    const { chargeId, taskId } = await charge('held', 'failed');
    const { rows: postings } = await ledger.billing.query<{ id: bigint }>(
      'SELECT id FROM ledger_transactions WHERE charge_id = $1',
      [chargeId],
    );
    named = postings.map(({ id }) => id);
    expect(named).toHaveLength(1);
    expect(await findAfter('', all)).toEqual([]);
    const work = [chargesTasksControl, holdsControl, refundLatencyControl];
    expect(await findAfter(AGE, work, { before: '2020-01-01T00:00:00Z' })).toEqual([]);
    expect(await findAfter(AGE, work)).toEqual([
      `charges-tasks: task:${taskId} failed_without_release`,
      `holds: charge:${chargeId} overdue`,
      `refund-latency: task:${taskId} not_refunded`,
    ]);
    await engine.resolve(failed(chargeId));
    expect(await findAfter(AGE, all)).toEqual([]);
  });
});

describe('charges against tasks and requests', () => {
  it.each([
    [
      'a task that failed and was charged',
      'delivered',
      `UPDATE tasks SET state = 'failed' WHERE id = $1`,
      'failed_and_settled',
    ],
    [
      'a task that runs and was charged',
      'delivered',
      `UPDATE tasks SET state = 'submitted', ended_at = NULL WHERE id = $1`,
      'charged_without_work',
    ],
    [
      'a task that was refused and charged',
      'delivered',
      `UPDATE tasks SET state = 'refused' WHERE id = $1`,
      'charged_without_work',
    ],
    ['work whose charge was refunded', 'failed', `SELECT FROM tasks WHERE id = $1`, 'late'],
    [
      'work whose charge is gone',
      'delivered',
      `DELETE FROM charges WHERE task_id = $1`,
      'work_without_charge',
    ],
  ] as const)('name %s', async (_, ended, fault, state) => {
    const { taskId } = await charge(ended, 'completed');
    const found = await withFaults([fault], [taskId]);
    expect(found).toEqual([`charges-tasks: task:${taskId} ${state}`]);
    await ledger.owner.query(`UPDATE tasks SET state = 'failed' WHERE id = $1 AND $2`, [
      taskId,
      ended === 'failed',
    ]);
  });

  it('name a charge whose task is gone, or is another’s', async () => {
    const { taskId, chargeId } = await charge('delivered', 'completed');
    expect(await withFaults(['DELETE FROM tasks WHERE id = $1'], [taskId])).toEqual([
      `charges-tasks: charge:${chargeId} task_missing`,
    ]);
    expect(await withFaults([`UPDATE tasks SET charge_id = 'other' WHERE id = $1`], [taskId])).toEqual([
      `charges-tasks: charge:${chargeId} task_missing`,
      `charges-tasks: task:${taskId} work_without_charge`,
    ]);
  });

  it('name what was settled although nobody did the work, or the upstream refused it', async () => {
    const { chargeId } = await charge('delivered');
    for (const fault of ['channel_id = NULL', 'upstream_status = 500']) {
      expect(await withFaults([`UPDATE charges SET ${fault} WHERE id = $1`], [chargeId])).toEqual([
        `charges-tasks: charge:${chargeId} charged_without_work`,
      ]);
    }
  });

  it('name answers that contradict the charge', async () => {
    const { chargeId } = await charge('delivered');
    const { chargeId: released } = await charge('failed');
    expect(await withFaults([answered(502)], [chargeId])).toEqual([
      `charges-tasks: charge:${chargeId} charged_without_work`,
    ]);
    expect(await withFaults([answered(200)], [released])).toEqual([
      `charges-tasks: charge:${released} work_without_charge`,
    ]);
    expect(await withFaults([answered(200)], ['nowhere'])).toEqual([
      'charges-tasks: charge:nowhere work_without_charge',
    ]);
    expect(await withFaults([answered(200)], [chargeId])).toEqual([]);
    expect(await withFaults([answered(502)], [released])).toEqual([]);
  });

  it('compare an answer with all charges of its request, of which one is settled', async () => {
    const { chargeId: requestId } = await charge('failed');
    await charge('delivered', undefined, { requestId });
    expect(await withFaults([answered(200)], [requestId])).toEqual([]);
    expect(await withFaults([answered(502)], [requestId])).toEqual([
      `charges-tasks: charge:${chargeIdOf(requestId, 1)} charged_without_work`,
    ]);
    const { chargeId: unpaid } = await charge('failed');
    await charge('failed', undefined, { requestId: unpaid });
    expect(await withFaults([answered(502)], [unpaid])).toEqual([]);
    expect(await withFaults([answered(200)], [unpaid])).toEqual([
      `charges-tasks: charge:${unpaid} work_without_charge`,
    ]);
  });

  it('wait while a charge of the request is held', async () => {
    const { chargeId: requestId } = await charge('failed');
    const { chargeId } = await charge('held', undefined, { requestId });
    expect(await withFaults([answered(200)], [requestId])).toEqual([]);
    await engine.resolve(failed(chargeId));
  });

  /** An answer to request $1, stored for its repeats. */
  const answered = (status: number) =>
    `INSERT INTO idempotency_keys (key_id, idempotency_key, content_hash, charge_id, state, lease_until, status, answer, created_at,
       expires_at) VALUES ('${customer.keyId}', 'k', sha256('x'), $1, 'answered', now(), ${status}, 'x', now() - interval '1 hour',
       now() + interval '1 day')`;

  /** Runs each statement with the values, then moves everything into the past. */
  async function withFaults(faults: readonly string[], values: unknown[]) {
    const client = await ledger.owner.connect();
    try {
      await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
      await client.query('SET LOCAL session_replication_role = replica');
      for (const fault of faults) await client.query(fault, values);
      await client.query(AGE);
      return await checked(client, [chargesTasksControl]);
    } finally {
      await client.query('ROLLBACK');
      client.release();
    }
  }
});

describe('holds', () => {
  it('name those beyond their deadline, of tasks beyond the task’s', async () => {
    const alone = await charge('held');
    const running = await charge('held', 'submitted');
    expect(await findAfter('', holdsControl)).toEqual([]);
    expect(
      await findAfter(
        `UPDATE charges SET deadline = now() - interval '2 minutes' WHERE deadline IS NOT NULL`,
        holdsControl,
      ),
    ).toEqual([`holds: charge:${alone.chargeId} overdue`]);
    expect(await findAfter(`UPDATE tasks SET deadline = now() - interval '2 minutes'`, holdsControl)).toEqual(
      [`holds: charge:${running.chargeId} overdue`],
    );
    for (const { chargeId } of [alone, running]) await engine.resolve(failed(chargeId));
    await ledger.owner.query(`UPDATE tasks SET state = 'failed', ended_at = now() WHERE id = $1`, [
      running.taskId,
    ]);
  });
});

describe('promotion', () => {
  it('names a reward, a claw-back or a move that its posting contradicts, and what moved without one', async () => {
    const [inviter, invitee] = [
      await ledger.account({ credits: '0' }),
      await ledger.account({ credits: '0' }),
    ];
    await invited(invitee.accountId, inviter.accountId);
    await topUp(invitee.accountId, '50');
    const move = { accountId: inviter.accountId, requestId: 'move-1', amount: parseAmount('2'), windowMs: 0 };
    await inTransaction(ledger.billing, (client) => transferInvite(client, move));
    const { rows } = await ledger.owner.query<{ id: string; transactionId: bigint }>(
      'SELECT id, transaction_id AS "transactionId" FROM invite_rewards',
    );
    const reward = rows[0]!;
    expect(await findAfter('', [promotionControl, ledgerControl])).toEqual([]);

    const account = `promotion: account:${inviter.accountId} differs`;
    expect(await findAfter('UPDATE invite_rewards SET amount = amount + 1', promotionControl)).toEqual([
      account,
      `promotion: reward:${reward.id} differs`,
    ]);
    expect(await findAfter('DELETE FROM invite_rewards', promotionControl)).toEqual([
      account,
      `promotion: transaction:${reward.transactionId} missing_here`,
    ]);
    expect(await findAfter('UPDATE invite_transfers SET amount = 1', promotionControl)).toEqual([
      account,
      `promotion: invite-transfer:${inviter.accountId}:move-1 differs`,
    ]);
    expect(
      await findAfter(
        'UPDATE ledger_entries SET amount = amount * 2 WHERE transaction_id = $1',
        promotionControl,
        { values: [reward.transactionId] },
      ),
    ).toEqual([`promotion: reward:${reward.id} differs`]);
    expect(
      await findAfter(
        'UPDATE customer_balances SET invite = invite + 1 WHERE account_id = $1',
        promotionControl,
        { values: [inviter.accountId] },
      ),
    ).toEqual([account]);
  });

  async function invited(inviteeId: string, inviterId: string) {
    await ledger.billing.query(
      'INSERT INTO invitations (invitee_account_id, inviter_account_id) VALUES ($1, $2)',
      [inviteeId, inviterId],
    );
  }

  async function topUp(accountId: string, credits: string) {
    await recordTopup(ledger.billing, {
      accountId,
      provider: 'manual',
      paymentId: newId(),
      currency: 'USD',
      ...priceCredits(parseAmount(credits), '1.3'),
      rate: '1.3',
    });
  }
});

describe('the invariants of the ledger', () => {
  it('are reported row by row, with their transactions', async () => {
    const { rows } = await ledger.owner.query<{ id: bigint }>(
      'SELECT min(transaction_id) AS id FROM ledger_entries',
    );
    const { id } = rows[0]!;
    const found = await findAfter(
      'UPDATE ledger_entries SET amount = amount + 1 WHERE transaction_id = $1 AND ordinal = 0',
      ledgerControl,
      { values: [id] },
    );
    expect(found).toContain(`ledger: invariant-1:transaction_id=${id},commodity=CRD entries_unbalanced`);
  });
});
