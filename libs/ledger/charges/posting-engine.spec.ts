import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { loadPriceBook } from '#catalog/catalog.store.js';
import { inTransaction } from '#database/database.js';
import { nanos, parseAmount } from '#money/amount.js';
import { newId } from '#platform/ids.js';
import { Registry } from '#platform/metrics.js';
import { priceCredits } from '#topup/conversion.js';
import { until } from '../../../test/support/eventually.js';
import { createLedgerFixture, type LedgerFixture } from '../../../test/support/ledger.js';
import { recordTopup } from '../../../test/support/topups.js';
import { checkLedger } from '../checks/ledger-check.js';
import { readBalance } from '../postings/customer-account.js';
import type { HoldCommand } from './charge.js';
import { PostingEngine } from './posting-engine.js';

let ledger: LedgerFixture;
let engine: PostingEngine;
let other: PostingEngine;
let registry: Registry;
let customer: { accountId: string; keyId: string };

beforeAll(async () => {
  ledger = await createLedgerFixture();
  registry = new Registry();
  const { billing: pool, log } = ledger;
  engine = new PostingEngine({ pool, loadPriceBook, log, registry });
  other = new PostingEngine({ pool, loadPriceBook, log });
});
afterAll(async () => {
  await Promise.all([engine?.close(), other?.close()]);
  await ledger?.close();
});
beforeEach(async () => {
  customer = await ledger.account({ credits: '1' });
});

const PRICE = parseAmount('0.03');
const TAKEN = parseAmount('0.95');
/** A limit above the price of one image and below that of two. */
const FOR_ONE = parseAmount('0.045');

function holdOf(change: Partial<HoldCommand> = {}): HoldCommand {
  return {
    chargeId: newId(),
    ...customer,
    model: 'imgmodel-4',
    requestedModel: 'imgmodel-4',
    group: 'Vendora-Main',
    units: 1n,
    quotedAmount: PRICE,
    taskId: null,
    requestId: newId(),
    expiresAtMs: Date.now() + 60_000,
    deadlineMs: Date.now() + 60_000,
    clientIp: '192.0.2.7',
    ...change,
  };
}

const delivered = {
  outcome: 'delivered' as const,
  deliveredUnits: null,
  channel: null,
  reason: null,
  upstreamStatus: null,
  latencyMs: null,
};

/** A hold, and its outcome or refusal. */
async function hold(change?: Partial<HoldCommand>): Promise<string> {
  const result = await engine.hold(holdOf(change));
  return result.outcome === 'held' ? 'held' : result.code;
}

const LOCK = 'SELECT FROM customer_balances WHERE account_id = $1 FOR UPDATE';

/** A hold that waits for another transaction's lock on the balance, and its outcome. */
async function holdDuring(taking: string, meanwhile: string): Promise<string> {
  expect(await hold()).toBe('held');
  const waiting = await inTransaction(ledger.owner, async (client) => {
    const { rows } = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
    await client.query(taking, [customer.accountId]);
    const answer = hold();
    await until('the hold to wait', async () => {
      const sql = 'SELECT FROM pg_stat_activity WHERE $1 = ANY (pg_blocking_pids(pid))';
      return (await ledger.owner.query(sql, [rows[0]?.pid])).rowCount;
    });
    await client.query(meanwhile, meanwhile.includes('$1') ? [customer.accountId] : []);
    return { answer };
  });
  return waiting.answer;
}

/** How many batches were decided from memory. */
async function provedBatches(): Promise<number> {
  const { values } = (await registry.getSingleMetric('tollgate_ledger_batches_total')!.get()) as {
    values: { labels: { decided?: string }; value: number }[];
  };
  return values.find(({ labels }) => labels.decided === 'proved')?.value ?? 0;
}

function setKey(assignment: string): Promise<unknown> {
  return ledger.owner.query(`UPDATE api_keys SET ${assignment} WHERE id = $1`, [customer.keyId]);
}

function setBalance(assignment: string): Promise<unknown> {
  return ledger.owner.query(`UPDATE customer_balances SET ${assignment} WHERE account_id = $1`, [
    customer.accountId,
  ]);
}

/** The ledger's clock is never behind its newest mark. */
function moveClockTo(time: string): Promise<unknown> {
  return ledger.owner.query(
    'INSERT INTO ledger_horizons (at, last_ledger_id, xid) VALUES ($1, 1, pg_current_xact_id())',
    [time],
  );
}

const changes: Record<string, { make: () => Promise<unknown>; then: string }> = {
  'the key was deleted': { make: () => ledger.revoke(customer.keyId), then: 'key_revoked' },
  'the key has expired': { make: () => setKey(`expires_at = now()`), then: 'key_expired' },
  'the key may use other models': {
    make: () => setKey(`allowed_models = '{imgmodel-4-fast}'`),
    then: 'model_not_allowed',
  },
  'the key is good from elsewhere': {
    make: () => setKey(`allowed_ips = '{10.0.0.0/8}'`),
    then: 'ip_not_allowed',
  },
  'the key got a limit': {
    make: () => setKey(`monthly_limit_nanos = ${FOR_ONE}`),
    then: 'key_limit_exceeded',
  },
  'the key got a limit of all time': {
    make: () => setKey(`total_limit_nanos = ${FOR_ONE}`),
    then: 'key_limit_exceeded',
  },
  'the account got a limit': {
    make: () => setBalance(`monthly_limit = ${FOR_ONE}`),
    then: 'account_limit_exceeded',
  },
  'the account was frozen': { make: () => setBalance('frozen = true'), then: 'account_frozen' },
};

describe('a batch decided from memory', () => {
  it('holds and ends charges like one that reads everything, and the books agree', async () => {
    await hold();
    const before = await provedBatches();
    const command = holdOf();
    expect(await engine.hold(command)).toMatchObject({ outcome: 'held', amount: PRICE });
    expect(await engine.resolve({ ...delivered, ...command })).toMatchObject({ outcome: 'settled' });
    expect((await provedBatches()) - before).toBe(2);
    expect(await readBalance(ledger.billing, customer.accountId)).toMatchObject({
      main: parseAmount('0.94'),
      held: PRICE,
    });
  });

  it.each(Object.entries(changes))('sees that %s', async (_, { make, then }) => {
    expect(await hold()).toBe('held');
    await make();
    expect(await hold()).toBe(then);
    await setBalance('frozen = false');
  });

  it('need not read anything again because its key was used', async () => {
    await hold();
    const before = await provedBatches();
    await setKey('last_used_at = now()');
    expect(await hold()).toBe('held');
    expect(await provedBatches()).toBe(before + 1);
  });

  it('sees that its group was closed, and reopened', async () => {
    const group = 'Vendora-Main';
    const setOpen = (open: boolean) =>
      ledger.owner.query('UPDATE groups SET open = $1 WHERE name = $2', [open, group]);
    expect(await hold()).toBe('held');
    await setOpen(false);
    expect(await hold()).toBe('group_not_granted');
    await ledger.owner.query(
      `INSERT INTO account_groups (account_id, group_name, granted_by) VALUES ($1, $2, 'test')`,
      [customer.accountId, group],
    );
    expect(await hold()).toBe('held');
    await ledger.owner.query('DELETE FROM account_groups WHERE account_id = $1', [customer.accountId]);
    expect(await hold()).toBe('group_not_granted');
    await setOpen(true);
  });

  it('uses the current price', async () => {
    expect(await hold()).toBe('held');
    const setPrice = (price: string) =>
      ledger.owner.query(
        `INSERT INTO price_versions (model_id, unit_price, effective_from) VALUES ('imgmodel-4', $1, now())`,
        [price],
      );
    await setPrice('0.04');
    expect(await hold()).toBe('stale_quote');
    expect(await hold({ quotedAmount: parseAmount('0.04') })).toBe('held');
    await setPrice('0.03');
    expect(await hold()).toBe('held');
  });

  it('refuses a request that expired in transit', async () => {
    expect(await hold()).toBe('held');
    expect(await hold({ expiresAtMs: Date.now() - 1 })).toBe('expired');
  });

  it('spends what another engine and a top-up left, once each', async () => {
    expect(await hold()).toBe('held');
    await other.hold(holdOf());
    expect(await hold()).toBe('held');
    await recordTopup(ledger.billing, {
      accountId: customer.accountId,
      provider: 'manual',
      paymentId: newId(),
      ...priceCredits(parseAmount('1'), '1.3'),
      rate: '1.3',
      currency: 'USD',
    });
    expect(await hold()).toBe('held');
    expect(await readBalance(ledger.billing, customer.accountId)).toMatchObject({
      main: parseAmount('1.88'),
      held: parseAmount('0.12'),
    });
  });

  it('waits while another transaction locks the balance, then decides again', async () => {
    const taking = `UPDATE customer_balances SET main = main - ${TAKEN} WHERE account_id = $1`;
    expect(await holdDuring(taking, 'SELECT 1')).toBe('insufficient_user_quota');
    await setBalance(`main = main + ${TAKEN}`);
  });

  it('sees a key revoked by a transaction that locked the balance and did not write it', async () => {
    const revoking = `UPDATE api_keys SET revoked_at = clock_timestamp() WHERE account_id = $1`;
    expect(await holdDuring(LOCK, revoking)).toBe('key_revoked');
  });

  it('sees that the key expired while it waited', async () => {
    const expiring = `UPDATE api_keys SET expires_at = clock_timestamp() WHERE account_id = $1`;
    expect(await holdDuring(LOCK, expiring)).toBe('key_expired');
  });

  it('reconnects if its connection was closed, and reads the current state', async () => {
    expect(await hold()).toBe('held');
    await ledger.owner.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE application_name = 'test-billing' AND datname = current_database()`,
    );
    await until('the connections to be gone', async () => ledger.billing.totalCount === 0);
    const before = await provedBatches();
    expect(await hold()).toBe('held');
    expect(await provedBatches()).toBe(before);
    expect(await hold()).toBe('held');
    expect(await provedBatches()).toBe(before + 1);
  });

  it('holds for a key whose first hold of the month was refused', async () => {
    const refused = { expiresAtMs: Date.now() - 1 };
    expect(await hold(refused)).toBe('expired');
    await setBalance('main = main');
    expect(await hold()).toBe('held');
    const second = { keyId: await ledger.key(customer.accountId) };
    // In one batch, so that the engine remembers the key without spending.
    expect(await Promise.all([hold(), hold({ ...second, ...refused })])).toEqual(['held', 'expired']);
    expect(await hold(second)).toBe('held');
    expect(await hold(second)).toBe('held');
    const { rows } = await ledger.owner.query('SELECT spent FROM key_spend WHERE key_id = $1', [
      second.keyId,
    ]);
    expect(rows).toEqual([{ spent: 2n * PRICE }]);
  });

  it('holds for two keys of an account in turn', async () => {
    const second = { keyId: await ledger.key(customer.accountId) };
    for (const change of [{}, second]) expect(await hold(change)).toBe('held');
    const before = await provedBatches();
    for (const change of [{}, second, {}, second]) expect(await hold(change)).toBe('held');
    expect((await provedBatches()) - before).toBe(4);
  });

  it('returns what is released in a later month to the month of the hold', async () => {
    const command = holdOf();
    await other.hold(command);
    const move = async (months: number) => {
      const sql = (table: string, column: string, key: string) =>
        `UPDATE ${table} SET ${column} = ${column} + make_interval(months => ${months}) WHERE ${key} = $1`;
      await ledger.owner.query(sql('charges', 'created_at', 'id'), [command.chargeId]);
      await ledger.owner.query(sql('key_spend', 'month', 'key_id'), [command.keyId]);
    };
    await move(-1);
    await engine.resolve({ ...delivered, ...command, outcome: 'failed' });
    const { rows } = await ledger.owner.query('SELECT spent FROM key_spend WHERE key_id = $1', [
      command.keyId,
    ]);
    expect(rows).toEqual([{ spent: 0n }]);
    await move(1);
  });

  it('announces what is released of a charge, and a low balance once', async () => {
    await setBalance(`low_balance_threshold = ${parseAmount('0.99')}`);
    const commands = [holdOf({ units: 2n, quotedAmount: nanos(2n * PRICE) }), holdOf()] as const;
    for (const command of commands) await engine.hold(command);
    await engine.resolve({ ...delivered, ...commands[0], deliveredUnits: 1n });
    await engine.resolve({ ...delivered, ...commands[1], outcome: 'failed' });
    const { rows } = await ledger.owner.query<{ line: string }>(
      `SELECT concat_ws(' ', topic, payload ->> 'kind', payload ->> 'amount', payload ->> 'balance') AS line FROM outbox
       WHERE payload ->> 'accountId' = $1 AND topic <> 'topup.credited' ORDER BY id`,
      [customer.accountId],
    );
    expect(rows.map(({ line }) => line)).toEqual([
      'balance.low 0.94',
      'charge.refunded partial 0.03',
      'charge.refunded release 0.03',
    ]);
  });

  it('refuses the hold of a charge that another engine recorded as failed', async () => {
    expect(await hold()).toBe('held');
    const command = holdOf();
    await other.resolve({ ...delivered, ...command, outcome: 'failed' });
    expect(await engine.hold(command)).toMatchObject({ outcome: 'refused', code: 'abandoned' });
  });

  it('ends a charge once if another engine ended it first', async () => {
    const command = holdOf();
    await engine.hold(command);
    await other.resolve({ ...delivered, ...command });
    expect(await engine.resolve({ ...delivered, ...command, outcome: 'failed' })).toMatchObject({
      outcome: 'settled',
      settled: PRICE,
    });
  });

  it('answers a repeated hold as it did, and refuses its ID for another request', async () => {
    const command = holdOf();
    expect((await engine.hold(command)).outcome).toBe('held');
    expect((await engine.hold(command)).outcome).toBe('held');
    expect(await engine.hold({ ...command, units: 2n })).toMatchObject({ code: 'conflict' });
    expect(await readBalance(ledger.billing, customer.accountId)).toMatchObject({ held: PRICE });
  });

  it('counts nothing spent last month if the month ends between a hold and its end', async () => {
    const later = { expiresAtMs: Date.parse('2200-01-01') };
    await setBalance(`monthly_limit = ${FOR_ONE}`);
    const command = holdOf(later);
    expect((await engine.hold(command)).outcome).toBe('held');
    await moveClockTo('2099-12-31');
    await engine.resolve({ ...delivered, chargeId: command.chargeId, accountId: customer.accountId });
    expect(await hold(later)).toBe('held');
    expect(await hold(later)).toBe('account_limit_exceeded');
  });

  it('sees that a scheduled price has taken effect, and that the month has ended', async () => {
    const laterMs = Date.parse('2200-01-01');
    const later = { expiresAtMs: laterMs, quotedAmount: PRICE };
    await setKey(`monthly_limit_nanos = ${PRICE}`);
    await ledger.owner.query(
      `INSERT INTO price_versions (model_id, unit_price, effective_from) VALUES ('imgmodel-4', 0.05, '2101-01-01')`,
    );
    expect(await hold(later)).toBe('held');
    expect(await hold(later)).toBe('key_limit_exceeded');
    await moveClockTo('2100-12-31');
    expect(await hold(later)).toBe('held');
    expect(await hold(later)).toBe('key_limit_exceeded');
    await setKey('monthly_limit_nanos = NULL');
    expect(await hold(later)).toBe('held');
    await moveClockTo('2101-01-02');
    expect(await hold(later)).toBe('stale_quote');
    expect(await hold()).toBe('expired');
  });

  it('leaves books that agree', async () => {
    const { violations } = await checkLedger(ledger.billing, { graceMs: 0 });
    expect(violations).toEqual([]);
  });
});
