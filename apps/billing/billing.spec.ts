import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Bus } from '#bus/bus.js';
import { InProcessTransport } from '#bus/in-process/in-process.transport.js';
import { outboxInsert, outboxRow } from '#bus/outbox.js';
import type { ChargeRequested, ChargeResolved } from '#bus/payloads.js';
import { groups, topics } from '#bus/topics.js';
import { readBalance } from '#ledger/postings/customer-account.js';
import { checkLedger } from '#ledger/checks/ledger-check.js';
import { formatAmount } from '#money/amount.js';
import { ConfigReader } from '#platform/config.js';
import { newId } from '#platform/ids.js';
import { Registry } from '#platform/metrics.js';
import { createCustomer, createKey, revokeCustomerKey } from '#people/accounts/customers.js';
import { until as eventually } from '../../test/support/eventually.js';
import { createLedgerFixture, type LedgerFixture } from '../../test/support/ledger.js';
import { readBillingConfig } from './billing.config.js';
import { type RunningBilling, startBilling } from './billing.program.js';
import { OverdueRows } from './overdue-rows.js';

let ledger: LedgerFixture;
let transport: InProcessTransport;
let billing: RunningBilling;
let bus: Bus;
const registry = new Registry();

beforeAll(async () => {
  ledger = await createLedgerFixture();
  const { log } = ledger;
  transport = new InProcessTransport({ groups: [groups.billing], log, registry });
  billing = await startBilling({
    pool: ledger.billing,
    transport,
    config: readBillingConfig(
      new ConfigReader({
        CHARGE_GRACE_SECONDS: '0.2',
        SWEEP_INTERVAL_SECONDS: '0.05',
        OUTBOX_POLL_SECONDS: '0.05',
      }),
    ),
    log,
    registry,
  });
  bus = new Bus(transport.client());
});

afterAll(async () => {
  await bus?.close();
  await billing?.close();
  await transport?.close();
  await ledger?.close();
});

interface Customer {
  accountId: string;
  keyId: string;
}

function request(customer: Customer, more: Partial<ChargeRequested> = {}): ChargeRequested {
  return {
    chargeId: newId(),
    accountId: customer.accountId,
    keyId: customer.keyId,
    model: 'vendora-imagine-image',
    requestedModel: 'vendora-imagine-image',
    group: 'Vendora-Main',
    units: '2',
    quotedAmount: '0.04',
    expiresAt: new Date(Date.now() + 600_000).toISOString(),
    deadline: new Date(Date.now() + 600_000).toISOString(),
    requestId: newId(),
    ...more,
  };
}

function resolution(of: ChargeRequested, more: Partial<ChargeResolved> = {}): ChargeResolved {
  return { chargeId: of.chargeId, accountId: of.accountId, outcome: 'delivered', ...more };
}

async function hold(message: ChargeRequested) {
  return bus.request(topics.chargeRequested, message);
}

async function balances(accountId: string) {
  const { main, held } = (await readBalance(ledger.billing, accountId))!;
  return { main: formatAmount(main), held: formatAmount(held) };
}

async function stateOf(chargeId: string): Promise<string | undefined> {
  const { rows } = await ledger.owner.query<{ state: string }>('SELECT state FROM charges WHERE id = $1', [
    chargeId,
  ]);
  return rows[0]?.state;
}

async function metric(name: string): Promise<number> {
  const { values } = await registry.getSingleMetric(name)!.get();
  return values.reduce((sum, { value }) => sum + value, 0);
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  await eventually(condition.toString(), condition);
}

describe('charges on the bus', () => {
  it('are held, settled for what was delivered and otherwise released, in decimal strings', async () => {
    const customer = await ledger.account({ credits: '1' });
    const message = request(customer);
    expect(await hold(message)).toMatchObject({ outcome: 'held', amount: '0.04', balance: '0.96' });
    expect(await balances(customer.accountId)).toEqual({ main: '0.96', held: '0.04' });
    const reply = await bus.request(topics.chargeResolved, resolution(message, { deliveredUnits: '1' }));
    expect(reply).toEqual({ outcome: 'settled', settled: '0.02', released: '0.02' });
    expect(await balances(customer.accountId)).toEqual({ main: '0.98', held: '0' });
  });

  it('are refused if the balance does not cover them, with the reason', async () => {
    const customer = await ledger.account({ credits: '0.03' });
    const reply = await hold(request(customer));
    expect(reply).toMatchObject({ outcome: 'refused', refusal: { code: 'insufficient_user_quota' } });
  });

  it('are refused if their failure came first', async () => {
    const customer = await ledger.account({ credits: '1' });
    const message = request(customer);
    const failed = resolution(message, {
      outcome: 'failed',
      reason: { code: 'gave_up', message: 'no answer' },
    });
    expect(await bus.request(topics.chargeResolved, failed)).toMatchObject({ outcome: 'refused' });
    expect(await hold(message)).toMatchObject({ outcome: 'refused', refusal: { code: 'abandoned' } });
  });

  it('that were never held leave their delivery as a dead letter that names them', async () => {
    const customer = await ledger.account({ credits: '1' });
    const message = request(customer);
    await expect(bus.request(topics.chargeResolved, resolution(message))).rejects.toThrow(
      'could not be handled',
    );
    const { rows } = await ledger.owner.query('SELECT topic, reason FROM dead_letters WHERE charge_id = $1', [
      message.chargeId,
    ]);
    expect(rows).toEqual([
      { topic: 'charge.resolved', reason: expect.stringContaining('delivered but never held') },
    ]);
  });

  it('get an error for an unreadable request, without a dead letter', async () => {
    const customer = await ledger.account({ credits: '1' });
    const message = request(customer, { units: '1.5' });
    await expect(hold(message)).rejects.toThrow('could not be handled');
    const { rows } = await ledger.owner.query('SELECT 1 FROM dead_letters WHERE charge_id = $1', [
      message.chargeId,
    ]);
    expect(rows).toEqual([]);
  });
});

describe('revoking a key', () => {
  it('refuses every hold decided after it, and announces the key', async () => {
    const { accountId } = await ledger.account({ credits: '1' });
    const { keyId } = await createKey(ledger.billing, { accountId, group: 'Vendora-Main', name: 'second' });
    expect(await hold(request({ accountId, keyId }))).toMatchObject({ outcome: 'held' });
    const first = await revokeCustomerKey(ledger.billing, keyId);
    expect(await hold(request({ accountId, keyId }))).toMatchObject({ refusal: { code: 'key_revoked' } });
    expect(await revokeCustomerKey(ledger.billing, keyId)).toEqual(first);
  });

  it('waits for a hold that is being decided', async () => {
    const { accountId, keyId } = await ledger.account({ credits: '1' });
    const client = await ledger.billing.connect();
    await client.query('BEGIN');
    await client.query('SELECT 1 FROM customer_balances WHERE account_id = $1 FOR UPDATE', [accountId]);
    const revoking = revokeCustomerKey(ledger.billing, keyId);
    await until(async () => {
      const { rows } = await ledger.owner.query<{ waiting: boolean }>(
        `SELECT EXISTS (SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()) AS waiting`,
      );
      return rows[0]!.waiting;
    });
    const { rows } = await ledger.owner.query('SELECT revoked_at FROM api_keys WHERE id = $1', [keyId]);
    expect(rows).toEqual([{ revoked_at: null }]);
    await client.query('COMMIT');
    client.release();
    expect(await revoking).toMatchObject({ keyId, accountId });
  });

  it('says what does not exist', async () => {
    const key = { accountId: newId(), group: 'Vendora-Main', name: 'x' };
    await expect(createKey(ledger.billing, key)).rejects.toThrow('There is no account');
    await expect(revokeCustomerKey(ledger.billing, 'nothing')).rejects.toThrow('There is no key "nothing"');
    await expect(createCustomer(ledger.billing, { name: 'A', group: 'Nowhere' })).rejects.toThrow(
      'There is no group "Nowhere"',
    );
    await expect(createCustomer(ledger.billing, { name: ' ', group: 'Vendora-Main' })).rejects.toThrow(
      'A name is',
    );
  });
});

describe('holds past their deadline', () => {
  const past = () => new Date(Date.now() - 1_000).toISOString();

  it('are released, and work delivered afterwards costs nothing and is counted', async () => {
    const customer = await ledger.account({ credits: '1' });
    const message = request(customer, { deadline: past() });
    expect(await hold(message)).toMatchObject({ outcome: 'held' });
    await until(async () => (await stateOf(message.chargeId)) === 'released');
    expect(await balances(customer.accountId)).toEqual({ main: '1', held: '0' });
    await until(async () => (await metric('tollgate_holds_swept_total')) >= 1);

    const before = await metric('tollgate_late_success_total');
    await bus.publish(topics.chargeResolved, resolution(message, { channel: 'sandbox' }));
    expect(await metric('tollgate_late_success_total')).toBe(before + 1);
    await bus.publish(topics.chargeResolved, resolution(message, { channel: 'sandbox' }));
    expect(await metric('tollgate_late_success_total')).toBe(before + 1);
    const { rows } = await ledger.owner.query(
      'SELECT channel_id AS channel, units FROM late_deliveries WHERE charge_id = $1',
      [message.chargeId],
    );
    expect(rows).toEqual([{ channel: 'sandbox', units: 2n }]);
    expect(await balances(customer.accountId)).toEqual({ main: '1', held: '0' });
  });

  it('cost nobody anything if no channel did the work, however often that is reported', async () => {
    const message = request(await ledger.account({ credits: '1' }), { deadline: past() });
    await hold(message);
    await until(async () => (await stateOf(message.chargeId)) === 'released');
    const before = await metric('tollgate_late_success_total');
    for (let time = 0; time < 2; time += 1) await bus.publish(topics.chargeResolved, resolution(message));
    expect(await metric('tollgate_late_success_total')).toBe(before);
  });

  it('stay while the outbox has their resolution', async () => {
    const customer = await ledger.account({ credits: '1' });
    const message = request(customer, { deadline: past() });
    // A row with a topic that no relay here publishes stays in the outbox.
    const row = outboxRow(topics.chargeResolved, resolution(message));
    await ledger.owner.query(outboxInsert('gateway', [row]));
    await hold(message);
    const other = request(customer, { deadline: past() });
    await hold(other);
    await until(async () => (await stateOf(other.chargeId)) === 'released');
    expect(await stateOf(message.chargeId)).toBe('held');
    await ledger.owner.query(`DELETE FROM outbox WHERE producer = 'gateway'`);
    await until(async () => (await stateOf(message.chargeId)) === 'released');
  });

  it('stay when a dead letter names them', async () => {
    const customer = await ledger.account({ credits: '1' });
    const message = request(customer, { deadline: past() });
    await expect(bus.request(topics.chargeResolved, resolution(message))).rejects.toThrow();
    await hold(message);
    const other = request(customer, { deadline: past() });
    await hold(other);
    await until(async () => (await stateOf(other.chargeId)) === 'released');
    expect(await stateOf(message.chargeId)).toBe('held');
  });

  it('are not judged while a message sent before they were found is not handled yet', async () => {
    const { log } = ledger;
    const customer = await ledger.account({ credits: '1' });
    const message = request(customer);
    await hold(message);
    // Nobody reads this transport yet, so the resolution stays in its topic.
    const slow = new InProcessTransport({
      groups: [groups.billing],
      log,
      registry: new Registry(),
    });
    const slowBus = new Bus(slow.client());
    const handled = slowBus.publish(topics.chargeResolved, resolution(message), { timeoutMs: 180_000 });
    await until(async () => (await slowBus.endOffsets(topics.chargeResolved)).offsets[0]?.[1] === '1');
    const overdue = new OverdueRows<string>(slowBus, topics.chargeResolved);
    expect(await overdue.confirmed(async () => [message.chargeId])).toEqual([]);
    expect(await overdue.confirmed(async () => ['a later find waits for its turn'])).toEqual([]);

    const reader = await startBilling({
      pool: ledger.billing,
      transport: slow,
      config: readBillingConfig(
        new ConfigReader({
          CHARGE_GRACE_SECONDS: '60',
          SWEEP_INTERVAL_SECONDS: '60',
          OUTBOX_POLL_SECONDS: '60',
        }),
      ),
      log,
      registry: new Registry(),
    });
    await handled;
    expect(await overdue.confirmed(async () => [])).toEqual([message.chargeId]);
    expect(await stateOf(message.chargeId)).toBe('settled');
    await slowBus.close();
    await reader.close();
    await slow.close();
  });
});

describe('a task that ended while its charge is still held', () => {
  async function endedTask(state: 'completed' | 'failed', endedAgoMs = 1_000) {
    const customer = await ledger.account({ credits: '1' });
    const taskId = newId();
    const message = request(customer, {
      model: 'vendora-imagine-video',
      requestedModel: 'vendora-imagine-video',
      units: '5',
      quotedAmount: '0.25',
      deadline: null,
      taskId,
    });
    expect(await hold(message)).toMatchObject({ outcome: 'held' });
    await ledger.owner.query(
      `INSERT INTO tasks (id, kind, account_id, key_id, charge_id, dialect, state, model_id, requested_model, request,
         seconds, channel_id, file_key, created_at, ended_at, deadline)
       VALUES ($1, 'video', $2, $3, $4, 'openai', $5, $6, $6, '{}', 5, 'sandbox', 'videos/x.mp4', now(),
         now() - $7::int * interval '1 millisecond', now() + interval '1 hour')`,
      [taskId, customer.accountId, customer.keyId, message.chargeId, state, message.model, endedAgoMs],
    );
    return { ...customer, chargeId: message.chargeId };
  }

  it.each([
    ['completed', 'settled', '0.75'],
    ['failed', 'released', '1'],
  ] as const)('%s: its charge becomes %s, and the repair is counted', async (state, ended, main) => {
    const before = await metric('tollgate_repairs_total');
    const { accountId, chargeId } = await endedTask(state);
    await until(async () => (await stateOf(chargeId)) === ended);
    expect(await balances(accountId)).toEqual({ main, held: '0' });
    await until(async () => (await metric('tollgate_repairs_total')) === before + 1);
  });

  it('is left to the event that announces it, during the grace period', async () => {
    const { chargeId } = await endedTask('completed', -600_000);
    const { chargeId: older } = await endedTask('failed');
    await until(async () => (await stateOf(older)) === 'released');
    expect(await stateOf(chargeId)).toBe('held');
    const { rows } = await ledger.owner.query<{ accountId: string; taskId: string }>(
      'SELECT account_id AS "accountId", task_id AS "taskId" FROM charges WHERE id = $1',
      [chargeId],
    );
    const endedAt = new Date().toISOString();
    const event = { ...rows[0]!, chargeId, kind: 'video', outcome: 'completed', endedAt } as const;
    await bus.publish(topics.videoCompleted, event);
    expect(await stateOf(chargeId)).toBe('settled');
  });
});

it('leaves a clean ledger behind', async () => {
  expect(await checkLedger(ledger.billing, { graceMs: 60_000 })).toEqual({ ok: true, violations: [] });
});
