import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { atHorizon } from '#ledger/postings/horizon.js';
import { checkLedger } from '#ledger/checks/ledger-check.js';
import { parseAmount } from '#money/amount.js';
import { newId } from '#platform/ids.js';
import { type AccrualOptions, costsProgress } from './accrual.js';
import { type NewCost, setCost } from './cost-versions.js';
import { costsControl } from './costs.control.js';
import { accrueAll, CostsFixture } from './costs.fixture.js';

let costs: CostsFixture;
let customer: { accountId: string; keyId: string };

beforeAll(async () => {
  costs = await CostsFixture.create();
});
afterAll(() => costs?.close());
beforeEach(async () => {
  customer = await costs.ledger.account({ credits: '100' });
});

function set(model: string, cost: NewCost['cost'], more: Partial<NewCost> = {}) {
  return setCost(costs.ledger.billing, {
    channel: 'sandbox',
    model,
    cost,
    billsFailures: false,
    effectiveFrom: null,
    reason: 'the price list',
    actor: 'system',
    requestId: newId(),
    ...more,
  });
}

async function rowsOf(chargeId: string) {
  const { rows } = await costs.ledger.owner.query<{ outcome: string; cost: bigint; units: bigint }>(
    'SELECT outcome, cost::text, units::text FROM charge_costs WHERE charge_id = $1 ORDER BY outcome',
    [chargeId],
  );
  return rows.map(({ outcome, cost, units }) => [outcome, BigInt(cost), BigInt(units)]);
}

const accrue = (options?: AccrualOptions) => accrueAll(costs.ledger.billing, options);

/** What the control finds of charges. */
async function costFindings(): Promise<string[]> {
  const { items } = await atHorizon(costs.ledger.billing, (client, horizon) =>
    costsControl.check(client, { horizon, graceMs: 0, before: null, limit: 100 }),
  );
  const found = items.map(({ state, subject }) => `${state} ${subject}`);
  return found.filter((each) => each.includes('charge:')).sort();
}

async function unknown(): Promise<number> {
  const { rows } = await costs.ledger.owner.query('SELECT FROM unknown_costs');
  return rows.length;
}

async function expectPostingsOfRows(): Promise<void> {
  const { rows } = await costs.ledger.owner.query<{ rows: string; posted: string }>(
    `SELECT (SELECT coalesce(sum(cost), 0)::text FROM charge_costs) AS rows,
       (SELECT coalesce(-sum(e.amount), 0)::text FROM ledger_entries e JOIN ledger_accounts a ON a.id = e.ledger_account_id
         WHERE a.code LIKE 'expense:upstream%') AS posted`,
  );
  expect(rows[0]!.rows).toBe(rows[0]!.posted);
  expect((await checkLedger(costs.ledger.billing, { graceMs: 60_000 })).violations).toEqual([]);
}

describe('upstream costs', () => {
  it('are recorded for what was delivered, and posted once', async () => {
    await set('imgmodel-4', { unitCost: '0.011' });
    const whole = await costs.charge(customer, { model: 'imgmodel-4', units: 3n });
    const part = await costs.charge(customer, { model: 'imgmodel-4', units: 3n, delivered: 2n });
    const failed = await costs.charge(customer, { model: 'imgmodel-4', failed: true });
    const before = await costs.balances('%upstream%');
    expect(await accrue()).toEqual({ recorded: 3, unknown: 0 });
    expect(await accrue()).toEqual({ recorded: 0, unknown: 0 });
    expect(await rowsOf(whole)).toEqual([['delivered', parseAmount('0.033'), 3n]]);
    expect(await rowsOf(part)).toEqual([['delivered', parseAmount('0.022'), 2n]]);
    expect(await rowsOf(failed)).toEqual([['failed', 0n, 1n]]);
    const after = await costs.balances('%upstream%');
    const moved = parseAmount('0.055');
    expect(after['accrued-upstream:sandbox']).toBe((before['accrued-upstream:sandbox'] ?? 0n) + moved);
    expect(after['expense:upstream:sandbox']).toBe((before['expense:upstream:sandbox'] ?? 0n) - moved);
    await expectPostingsOfRows();
  });

  it('of metered work are rounded up line by line, even beyond the hold', async () => {
    await set('vendora-chat', { input: '0.0001', cachedInput: '0.5', output: '2' });
    const chargeId = await costs.charge(customer, {
      model: 'vendora-chat',
      tokens: { input: 10n, cachedInput: 0n, output: 10n },
      deliveredTokens: { input: 15n, cachedInput: 3n, output: 700n },
    });
    await accrue();
    // 15 tokens at 0.1 nano are rounded up to two nanos.
    expect(await rowsOf(chargeId)).toEqual([['delivered', 2n + 1_500n + 1_400_000n, 718n]]);
    await expectPostingsOfRows();
  });

  it('of free work are recorded too', async () => {
    await costs.ledger.owner.query(
      `INSERT INTO price_versions (model_id, unit_price, effective_from) VALUES ('vendora-speech', 0, now())`,
    );
    await set('vendora-speech', { unitCost: '0.005' });
    const chargeId = await costs.charge(customer, { model: 'vendora-speech' });
    await accrue();
    expect(await rowsOf(chargeId)).toEqual([['delivered', parseAmount('0.005'), 1n]]);
  });

  it('of an alias are those of its model', async () => {
    await set('vendora-imagine-video-1.5', { unitCost: '0.03' });
    const chargeId = await costs.charge(customer, { model: 'vendora-imagine-video-1.5-preview', units: 5n });
    await accrue();
    expect(await rowsOf(chargeId)).toEqual([['delivered', parseAmount('0.15'), 5n]]);
    await expect(set('vendora-imagine-video-1.5-preview', { unitCost: '1' })).rejects.toThrow(/alias/);
  });

  it('of failed work are recorded if the upstream bills it', async () => {
    await set('imgmodel-4', { unitCost: '0.02' }, { billsFailures: true });
    await set('vidmodel-3', { unitCost: '0.04' });
    const failed = await costs.charge(customer, { model: 'imgmodel-4', units: 2n, failed: true });
    const task = await costs.charge(customer, { model: 'vidmodel-3', units: 5n, failed: true });
    const late = await costs.charge(customer, { model: 'vidmodel-3', units: 5n, failed: true });
    await costs.failedTask(customer, task, 'the file could not be copied');
    await costs.failedTask(customer, late, null);
    await accrue();
    expect(await rowsOf(failed)).toEqual([['failed', parseAmount('0.04'), 2n]]);
    expect(await rowsOf(task)).toEqual([['failed', parseAmount('0.2'), 5n]]);
    expect(await rowsOf(late)).toEqual([['failed', 0n, 5n]]);
    expect((await costs.balances('expense:upstream-failed:%'))['expense:upstream-failed:sandbox']).toBe(
      -parseAmount('0.24'),
    );
    await costs.ledger.owner.query(`UPDATE tasks SET unbilled_cost = 'accepted late' WHERE charge_id = $1`, [
      late,
    ]);
    expect(await accrue()).toMatchObject({ recorded: 1 });
    expect(await accrue()).toMatchObject({ recorded: 0 });
    expect(await rowsOf(late)).toEqual([
      ['failed', 0n, 5n],
      ['late', parseAmount('0.2'), 5n],
    ]);
    await expectPostingsOfRows();
  });

  it('of work delivered after its charge was released are recorded, before or after the others of its time', async () => {
    await set('imgmodel-4', { unitCost: '0.011' });
    await set('vendora-chat', { input: '1', cachedInput: '0.5', output: '2' });
    const swept = { failed: true, channel: null };
    const calls = { model: 'imgmodel-4', units: 3n };
    const tokens = { input: 10n, cachedInput: 0n, output: 100n };
    const [before, after, never] = [
      await costs.charge(customer, { ...calls, ...swept }),
      await costs.charge(customer, { ...calls, ...swept }),
      await costs.charge(customer, { ...calls, ...swept }),
    ];
    const metered = await costs.charge(customer, { model: 'vendora-chat', tokens, ...swept });
    await costs.end(customer, before, { channel: 'sandbox', delivered: 2n });
    expect(await accrue()).toMatchObject({ recorded: 1 });
    await costs.end(customer, after, { channel: 'sandbox' });
    await costs.end(customer, after, { channel: 'sandbox' });
    await costs.end(customer, never, { channel: 'sandbox', delivered: 0n });
    await costs.end(customer, metered, { channel: 'sandbox', deliveredTokens: { ...tokens, output: 7n } });
    expect(await costFindings()).toEqual(
      [`cost_missing charge:${after}`, `cost_missing charge:${metered}`].sort(),
    );
    expect(await accrue()).toMatchObject({ recorded: 2 });
    expect(await accrue()).toMatchObject({ recorded: 0 });
    expect(await rowsOf(before)).toEqual([['failed', parseAmount('0.022'), 2n]]);
    expect(await rowsOf(after)).toEqual([['late', parseAmount('0.033'), 3n]]);
    expect(await rowsOf(never)).toEqual([]);
    expect(await rowsOf(metered)).toEqual([['late', 24_000n, 17n]]);
    expect(await costFindings()).toEqual([]);
    await expectPostingsOfRows();
  });

  it('that are unknown are recorded once they are known', async () => {
    const model = 'vendora-imagine-edit';
    const chargeId = await costs.charge(customer, { model, units: 2n });
    expect(await accrue()).toEqual({ recorded: 0, unknown: 1 });
    expect(await unknown()).toBe(1);
    await set(model, { unitCost: '0.01' });
    expect(await accrue()).toEqual({ recorded: 1, unknown: 0 });
    expect(await unknown()).toBe(0);
    expect(await rowsOf(chargeId)).toEqual([['delivered', parseAmount('0.02'), 2n]]);

    await set(model, null);
    const meanwhile = await costs.charge(customer, { model });
    await accrue();
    expect(await unknown()).toBe(1);
    await set(model, { unitCost: '0.02' });
    await accrue();
    expect(await rowsOf(meanwhile)).toEqual([['delivered', parseAmount('0.02'), 1n]]);
    await expectPostingsOfRows();
  });

  it('follow the version that was in force when the work ended', async () => {
    const model = 'vendora-imagine-image';
    await set(model, { unitCost: '0.01' });
    const before = await costs.charge(customer, { model });
    await set(model, { unitCost: '0.02' });
    const after = await costs.charge(customer, { model });
    await accrue();
    expect(await rowsOf(before)).toEqual([['delivered', parseAmount('0.01'), 1n]]);
    expect(await rowsOf(after)).toEqual([['delivered', parseAmount('0.02'), 1n]]);
  });

  it('are recorded once by any number of processes, in chunks of any size', async () => {
    const { billing } = costs.ledger;
    for (let count = 0; count < 40; count += 1) await costs.charge(customer, { model: 'imgmodel-4' });
    const all = await Promise.all([1, 2, 3].map(() => accrue({ chunk: 7 })));
    expect(all.reduce((sum, { recorded }) => sum + recorded, 0)).toBe(40);
    await expectPostingsOfRows();
    const { at } = await costsProgress(billing);
    const { rows } = await costs.ledger.owner.query(
      'SELECT FROM charges WHERE resolved_at >= $1::timestamptz AND channel_id IS NOT NULL',
      [at],
    );
    expect(rows).toEqual([]);
  });

  it('of a day whose books are closed are posted now, with a link, and count today', async () => {
    const model = 'vendora-imagine-video';
    const { owner, billing } = costs.ledger;
    const chargeId = await costs.charge(customer, { model, units: 2n });
    await accrue();
    // Moves events a day back, behind a close. No program may do that, so the guards are off.
    await owner.query(`BEGIN; SET LOCAL session_replication_role = replica;
      UPDATE charges SET created_at = created_at - interval '1 day', resolved_at = resolved_at - interval '1 day' WHERE id = '${chargeId}';
      UPDATE unknown_costs SET ended_at = ended_at - interval '1 day' WHERE charge_id = '${chargeId}'; COMMIT`);
    const { rows: periods } = await owner.query<{ id: string }>(
      `INSERT INTO ledger_periods (starts_at, ends_at, waivers, request_id, closed_by)
       VALUES ('-infinity', date_trunc('day', now() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC', '[]', 'r', 'cli') RETURNING id::text`,
    );
    await set(model, { unitCost: '0.01' });
    expect(await accrue()).toEqual({ recorded: 1, unknown: 0 });
    const { rows } = await billing.query(
      `SELECT k.day = (now() AT TIME ZONE 'UTC')::date AS today, l.period_id::text AS period FROM charge_costs k
       JOIN late_postings l ON l.transaction_id = k.transaction_id WHERE k.charge_id = $1`,
      [chargeId],
    );
    expect(rows).toEqual([{ today: true, period: periods[0]!.id }]);
    await owner.query(
      `UPDATE ledger_periods SET state = 'abandoned', abandoned_reason = 'a test', ended_at = now() WHERE id = $1`,
      [periods[0]!.id],
    );
    await expectPostingsOfRows();
  });

  it('find charges by an index that keeps their updates on the same pages', async () => {
    const chargeId = await costs.charge(customer, { model: 'imgmodel-4' });
    const client = await costs.ledger.owner.connect();
    try {
      await client.query('BEGIN');
      await client.query(`UPDATE charges SET resolved_at = resolved_at + interval '1 hour' WHERE id = $1`, [
        chargeId,
      ]);
      // The counts may include updates of this connection's previous transaction, which had to stay too.
      const { rows } = await client.query<{ all: number; hot: number }>(
        `SELECT n_tup_upd::int AS all, n_tup_hot_upd::int AS hot FROM pg_stat_xact_user_tables WHERE relname = 'charges'`,
      );
      expect(rows[0]?.all).toBeGreaterThan(0);
      expect(rows[0]?.hot).toBe(rows[0]?.all);
    } finally {
      await client.query('ROLLBACK');
      client.release();
    }
  });
});

describe('a cost version', () => {
  it('names the wrong field', async () => {
    await expect(set('nothing', { unitCost: '1' })).rejects.toMatchObject({ param: 'model' });
    await expect(set('imgmodel-4', { unitCost: '1' }, { channel: 'x' })).rejects.toMatchObject({
      param: 'channel',
    });
    const tokens = { input: '1', cachedInput: '1', output: '1' };
    await expect(set('imgmodel-4', tokens)).rejects.toMatchObject({ param: 'cost' });
    await expect(set('vendora-chat', { unitCost: '1' })).rejects.toMatchObject({ param: 'cost' });
    await expect(set('imgmodel-4', { unitCost: '1000.1' })).rejects.toMatchObject({ param: 'unitCost' });
    const effectiveFrom = new Date(Date.now() - 60_000);
    await expect(set('imgmodel-4', { unitCost: '1' }, { effectiveFrom })).rejects.toMatchObject({
      param: 'effectiveFrom',
    });
    await expect(set('imgmodel-lite', null)).rejects.toMatchObject({ param: 'cost' });
  });

  it('is created once per request', async () => {
    const requestId = newId();
    const first = await set('imgmodel-4', { unitCost: '0.5' }, { requestId });
    expect(await set('imgmodel-4', { unitCost: '0.50' }, { requestId })).toEqual(first);
    await expect(set('imgmodel-4', { unitCost: '0.6' }, { requestId })).rejects.toMatchObject({
      code: 'conflict',
    });
  });
});
