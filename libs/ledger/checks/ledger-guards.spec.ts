import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { loadPriceBook } from '#catalog/catalog.store.js';
import { openPool } from '#database/database.js';
import { parseAmount } from '#money/amount.js';
import { newId } from '#platform/ids.js';
import { createLedgerFixture, type LedgerFixture } from '../../../test/support/ledger.js';
import { recordTopup } from '../../../test/support/topups.js';
import type { HoldCommand } from '../charges/charge.js';
import { accountStatement } from '../reports/statement.js';
import { checkLedger } from './ledger-check.js';
import { recognisePresent } from '../lots/recognition.fixture.js';
import { PostingEngine } from '../charges/posting-engine.js';
import { readBalance } from '../postings/customer-account.js';
import { UnknownAccount } from '../postings/posting.js';
import { TopupConflict } from '../postings/topup.js';

let fixture: LedgerFixture;
let engine: PostingEngine;
let account: { accountId: string; keyId: string };
let charges = 0;

beforeAll(async () => {
  fixture = await createLedgerFixture();
  engine = new PostingEngine({ pool: fixture.billing, loadPriceBook, log: fixture.log });
});

afterAll(async () => {
  await engine.close();
  await fixture.close();
});

function command(overrides: Partial<HoldCommand> = {}): HoldCommand {
  charges += 1;
  return {
    chargeId: `guard${charges}`,
    ...account,
    model: 'imgmodel-4',
    requestedModel: 'imgmodel-4',
    group: 'Vendora-Main',
    units: 2n,
    quotedAmount: parseAmount('0.06'),
    expiresAtMs: Date.parse('2100-01-01'),
    deadlineMs: null,
    taskId: null,
    requestId: 'r',
    ...overrides,
  };
}

beforeEach(async () => {
  account = await fixture.account({ credits: '1' });
});

const APPEND_ONLY = [
  ['ledger_transactions', 'kind'],
  ['ledger_entries', 'amount'],
  ['ledger_accounts', 'code'],
  ['price_versions', 'unit_price'],
  ['multiplier_versions', 'multiplier'],
  ['group_rule_versions', 'unit_price'],
  ['topups', 'credits'],
  ['credit_lots', 'credits'],
  ['credit_lot_changes', 'credits'],
  ['lot_uses', 'credits'],
  ['account_rate_versions', 'rate'],
  ['invite_rewards', 'amount'],
  ['reward_clawbacks', 'amount'],
  ['invite_transfers', 'amount'],
];

describe('what the database refuses', () => {
  it.each(APPEND_ONLY)(
    'UPDATE, DELETE and TRUNCATE on %s to every role, the owner included',
    async (table, column) => {
      for (const text of [
        `UPDATE ${table} SET ${column} = ${column}`,
        `DELETE FROM ${table}`,
        `TRUNCATE ${table} CASCADE`,
      ]) {
        await expect(fixture.billing.query(text)).rejects.toThrow(/permission denied|append-only/);
        await expect(fixture.owner.query(text)).rejects.toThrow(/append-only/);
      }
    },
  );

  it('changes of money by gateway and worker: they write none, and the gateway reads only what it shows to a key', async () => {
    const shownToKeys = ['gateway charges', 'gateway customer_balances', 'gateway key_spend'];
    for (const role of ['gateway', 'worker'] as const) {
      const pool = openPool({ url: fixture.urlFor(role), max: 1, applicationName: 'test' });
      try {
        for (const table of ['ledger_entries', 'charges', 'customer_balances', 'topups', 'key_spend']) {
          if (!shownToKeys.includes(`${role} ${table}`)) {
            await expect(pool.query(`SELECT 1 FROM ${table}`)).rejects.toThrow(/permission denied/);
          }
          await expect(pool.query(`INSERT INTO ${table} DEFAULT VALUES`)).rejects.toThrow(
            /permission denied/,
          );
        }
      } finally {
        await pool.end();
      }
    }
  });

  it('entries that do not sum to zero', async () => {
    await expect(
      fixture.billing.query(
        `INSERT INTO ledger_entries (transaction_id, ordinal, commodity, ledger_account_id, amount) VALUES (1, 0, 'CRD', 1, 5), (1, 1, 'CRD', 2, -4)`,
      ),
    ).rejects.toThrow(/do not sum to zero/);
  });

  it('a balance below zero unless the account is frozen', async () => {
    await expect(
      fixture.billing.query('UPDATE customer_balances SET main = -1 WHERE account_id = $1', [
        account.accountId,
      ]),
    ).rejects.toThrow(/main_not_overdrawn/);
  });

  it('a version that takes effect in the past: it starts now instead', async () => {
    const { rows } = await fixture.owner.query<{ late: boolean }>(
      `INSERT INTO price_versions (model_id, unit_price, effective_from) VALUES ('imgmodel-lite', 0.01, '2020-01-01')
       RETURNING effective_from > now() - interval '1 minute' AS late`,
    );
    expect(rows[0]?.late).toBe(true);
  });
});

describe('the ledger check', () => {
  it('reports its progress', async () => {
    const steps: [done: number, total: number][] = [];
    await checkLedger(fixture.billing, { graceMs: 0, onProgress: (...each) => steps.push(each) });
    const total = steps.length - 1;
    expect(steps).toEqual(Array.from({ length: total + 1 }, (_, done) => [done, total]));
  });

  const tampering: [number, string][] = [
    [1, `INSERT INTO ledger_entries VALUES (77, 0, 'CRD', 1, 5, NULL)`],
    [2, `UPDATE customer_balances SET main = main + 1 WHERE account_id = $1`],
    [
      2,
      `UPDATE ledger_entries SET balance_after = balance_after + 1 WHERE balance_after IS NOT NULL AND transaction_id = (SELECT max(transaction_id) FROM ledger_entries WHERE balance_after IS NOT NULL)`,
    ],
    [3, `UPDATE customer_balances SET main = -5 WHERE account_id = $1`],
    [5, `UPDATE customer_balances SET held = held + 1 WHERE account_id = $1`],
    [
      6,
      `UPDATE charges SET settled = settled + 1, released = released - 1 WHERE account_id = $1 AND state = 'settled' AND released > 0`,
    ],
    [6, `DELETE FROM charges WHERE account_id = $1`],
    [7, `UPDATE charges SET task_id = 'nosuchtask' WHERE account_id = $1`],
    [1, `UPDATE topups SET credits = credits + 1 WHERE account_id = $1`],
    [
      2,
      `INSERT INTO suspense_items (id, provider, reference, amount_minor, currency, why, transaction_id)
       VALUES ('s', 'stripe', 'pi', 5, 'USD', 'no_order', 1)`,
    ],
    [
      2,
      `INSERT INTO topup_refunds (id, topup_id, account_id, credits, paid_minor, reason, actor, request_id, transaction_id)
       SELECT 'r', id, account_id, 1, 1, 'x', 'system', 'x', 1 FROM topups WHERE account_id = $1`,
    ],
    [
      3,
      `INSERT INTO credit_lot_changes (lot_id, transaction_id, kind, credits, paid_minor)
       SELECT id, transaction_id, 'refund', -credits - 1, 0 FROM credit_lots WHERE account_id = $1`,
    ],
    [
      6,
      `INSERT INTO disputes (provider, dispute_id, topup_id, account_id, amount_minor, state, credits, paid_minor)
       SELECT 'manual', 'd', id, account_id, 1, 'open', credits + 1, 1 FROM topups WHERE account_id = $1`,
    ],
    [2, `UPDATE lot_states SET used = used + 1 WHERE account_id = $1`],
    [2, `UPDATE lot_states SET recognised_minor = recognised_minor + 1 WHERE account_id = $1`],
    [2, `UPDATE lot_uses SET credits = credits + 1 WHERE account_id = $1`],
    [2, `UPDATE lot_uses SET purpose = 'chat' WHERE account_id = $1`],
    [2, `DELETE FROM lot_uses WHERE account_id = $1`],
    [2, `INSERT INTO lot_unmet VALUES ($1, 1, 'image', 1, now())`],
    [2, `UPDATE lot_cursors SET through_id = 0 WHERE account_id = $1`],
    [1, `UPDATE credit_lots SET paid_minor = paid_minor + 1 WHERE account_id = $1`],
    [2, `UPDATE lot_uses SET minor = minor + 1 WHERE account_id = $1`],
    [1, `INSERT INTO lot_day_sums (day, credits, minor) VALUES (current_date, 0, 1)`],
    [9, `DELETE FROM topups WHERE account_id = $1`],
    [
      11,
      `INSERT INTO invite_rewards (id, invitee_account_id, inviter_account_id, ordinal, topup_id, amount, transaction_id)
       SELECT 'w', account_id, 'somebody', 2, id, 1, 1 FROM topups WHERE account_id = $1`,
    ],
    [
      11,
      `INSERT INTO suspense_items (id, provider, reference, amount_minor, currency, why, transaction_id)
       SELECT 's', provider, payment_id, 5, 'USD', 'no_order', 1 FROM topups WHERE account_id = $1`,
    ],
    [
      11,
      `INSERT INTO topup_orders (id, account_id, request_id, request, provider, credits, paid_minor, currency, rate, state,
         topup_id, expires_at, next_check_at)
       SELECT 'o', account_id, 'r', '{}', 'manual', credits, paid_minor, currency, rate, 'paid', id, now(), now()
       FROM topups WHERE account_id = $1`,
    ],
    [12, `UPDATE charges SET units = units + 1 WHERE account_id = $1`],
    [
      12,
      `UPDATE price_versions SET rates = '[{"when": {"quality": "auto"}, "unitPrice": "0.001"}]'
       WHERE id IN (SELECT price_version_id FROM charges WHERE account_id = $1)`,
    ],
    [
      12,
      `UPDATE charges SET price_version_id = (SELECT id FROM price_versions WHERE model_id = 'vidmodel-3') WHERE account_id = $1`,
    ],
  ];

  it.each(tampering)('names a breach of invariant %i: %s', async (invariant, sql) => {
    const first = command();
    await engine.hold(first);
    await engine.resolve({
      chargeId: first.chargeId,
      accountId: account.accountId,
      outcome: 'delivered',
      deliveredUnits: 1n,
      channel: 'sandbox',
      reason: null,
      upstreamStatus: 200,
      latencyMs: 5,
    });
    await recognisePresent(fixture.billing);
    expect((await checkLedger(fixture.owner, { graceMs: 0 })).violations).toEqual([]);

    const client = await fixture.owner.connect();
    try {
      // Only a superuser can switch off the guards, like an intruder on the database's machine.
      await client.query('BEGIN');
      await client.query(`SET LOCAL session_replication_role = replica`);
      await client.query('ALTER TABLE customer_balances DROP CONSTRAINT main_not_overdrawn');
      await client.query(sql, sql.includes('$1') ? [account.accountId] : []);
      const { ok, violations } = await checkLedger(fixture.owner, { graceMs: 0, client });
      expect(ok).toBe(false);
      expect(violations.map((violation) => violation.invariant)).toContain(invariant);
      expect(violations[0]?.rows.length).toBeGreaterThan(0);
    } finally {
      await client.query('ROLLBACK');
      client.release();
    }
  });
});

describe('holds', () => {
  it('lists a charge from hold to end in the statement, with a running balance', async () => {
    const first = command();
    await engine.hold(first);
    await engine.resolve({
      chargeId: first.chargeId,
      accountId: account.accountId,
      outcome: 'failed',
      deliveredUnits: null,
      channel: null,
      reason: 'x',
      upstreamStatus: null,
      latencyMs: null,
    });
    const lines = await accountStatement(fixture.billing, account.accountId, { limit: 10 });
    expect(lines.map((line) => [line.kind, line.balance, line.amount, line.balanceAfter])).toEqual([
      ['release', 'main', parseAmount('0.06'), parseAmount('1')],
      ['release', 'held', -parseAmount('0.06'), 0n],
      ['hold', 'held', parseAmount('0.06'), parseAmount('0.06')],
      ['hold', 'main', -parseAmount('0.06'), parseAmount('0.94')],
      ['topup', 'main', parseAmount('1'), parseAmount('1')],
    ]);
  });

  it('keeps the monthly limit of a key and restores what was released', async () => {
    await fixture.owner.query('UPDATE api_keys SET monthly_limit_nanos = $2 WHERE id = $1', [
      account.keyId,
      parseAmount('0.1'),
    ]);
    const first = command();
    expect((await engine.hold(first)).outcome).toBe('held');
    expect(await engine.hold(command())).toMatchObject({ outcome: 'refused', code: 'key_limit_exceeded' });
    await engine.resolve({
      chargeId: first.chargeId,
      accountId: account.accountId,
      outcome: 'failed',
      deliveredUnits: null,
      channel: null,
      reason: null,
      upstreamStatus: null,
      latencyMs: null,
    });
    expect((await engine.hold(command())).outcome).toBe('held');
  });

  it('refuses a frozen account, an expired key, a model off the list, another group and an unknown model', async () => {
    const { owner } = fixture;
    const { keyId, accountId } = account;
    const code = async (overrides: Partial<HoldCommand> = {}) => {
      const result = await engine.hold(command(overrides));
      return result.outcome === 'refused' ? result.code : result.outcome;
    };
    expect(await code({ group: 'Public-Relay' })).toBe('model_not_found');
    expect(await code({ model: 'nothing' })).toBe('model_not_found');
    await owner.query(`UPDATE api_keys SET allowed_models = '{imgmodel-lite}' WHERE id = $1`, [keyId]);
    expect(await code()).toBe('model_not_allowed');
    await owner.query(`UPDATE api_keys SET allowed_models = NULL, expires_at = now() WHERE id = $1`, [keyId]);
    expect(await code()).toBe('key_expired');
    await owner.query(`UPDATE api_keys SET expires_at = NULL WHERE id = $1`, [keyId]);
    await owner.query(`UPDATE customer_balances SET frozen = true WHERE account_id = $1`, [accountId]);
    expect(await code()).toBe('account_frozen');
  });

  it('lets one invalid posting harm no other', async () => {
    const tooLong = 'x'.repeat(100);
    await fixture.owner.query(
      `ALTER TABLE charges ADD CONSTRAINT bad_request CHECK (request_id <> '${tooLong}')`,
    );
    const answers = await Promise.allSettled([
      ...Array.from({ length: 7 }, () =>
        engine.hold(command({ units: 1n, quotedAmount: parseAmount('0.03') })),
      ),
      engine.hold(command({ requestId: tooLong })),
    ]);
    expect(answers.filter((answer) => answer.status === 'fulfilled')).toHaveLength(7);
    expect(answers[7]?.status).toBe('rejected');
    await fixture.owner.query('ALTER TABLE charges DROP CONSTRAINT bad_request');
  });
});

describe('metered work', () => {
  const most = { input: 1_000n, cachedInput: 0n, output: 500n };

  async function holdTokens(): Promise<string> {
    const hold = command({
      model: 'talk',
      requestedModel: 'talk',
      tokens: most,
      quotedAmount: parseAmount('0.0075'),
    });
    expect(await engine.hold(hold)).toMatchObject({ outcome: 'held', amount: parseAmount('0.0075') });
    return hold.chargeId;
  }

  const used = (chargeId: string, deliveredTokens: typeof most) =>
    engine.resolve({
      chargeId,
      accountId: account.accountId,
      outcome: 'delivered',
      deliveredUnits: null,
      deliveredTokens,
      channel: 'sandbox',
      reason: null,
      upstreamStatus: 200,
      latencyMs: 1,
    });

  beforeAll(async () => {
    await fixture.owner.query(
      `INSERT INTO models (id, family, unit, owned_by) VALUES ('talk', 'chat', 'token', 'vendora')`,
    );
    await fixture.owner.query(
      `INSERT INTO price_versions (model_id, input_price, cached_input_price, output_price) VALUES ('talk', 2.5, 1.25, 10)`,
    );
    await fixture.owner.query(`INSERT INTO group_models VALUES ('Vendora-Main', 'talk')`);
  });

  it('settles the used tokens, one line per type, and releases the rest', async () => {
    const chargeId = await holdTokens();
    expect(await used(chargeId, { input: 600n, cachedInput: 400n, output: 10n })).toMatchObject({
      settled: parseAmount('0.0021'),
      released: parseAmount('0.0054'),
    });
  });

  it('never charges more than the hold: the excess is the loss of the operator', async () => {
    const chargeId = await holdTokens();
    expect(await used(chargeId, { ...most, output: 501n })).toMatchObject({
      settled: parseAmount('0.0075'),
      released: 0n,
    });
    const { rows } = await fixture.owner.query<{ loss: string }>(
      'SELECT operator_loss::text AS loss FROM charges WHERE id = $1',
      [chargeId],
    );
    expect(rows[0]?.loss).toBe('10000');
  });

  it('recomputes to the same amounts', async () => {
    expect((await checkLedger(fixture.owner, { graceMs: 0 })).violations).toEqual([]);
  });
});

describe('top-ups', () => {
  const payment = () => ({
    accountId: account.accountId,
    provider: 'manual' as const,
    paymentId: `payment-${account.accountId}`,
    credits: parseAmount('10'),
    paidMinor: 1300n,
    rate: '1.3' as const,
    currency: 'USD',
  });

  it('credits a payment once, however often and concurrently it is recorded', async () => {
    const results = await Promise.all(
      Array.from({ length: 20 }, () => recordTopup(fixture.billing, payment())),
    );
    expect(results.filter((result) => result.created)).toHaveLength(1);
    expect(new Set(results.map((result) => result.topupId)).size).toBe(1);
    expect(results.every((result) => result.balance === parseAmount('11'))).toBe(true);
  });

  it('adds up concurrent payments of one account', async () => {
    const payments = Array.from({ length: 8 }, (_, n) => ({
      ...payment(),
      paymentId: `at-once-${n}-${newId()}`,
    }));
    const { main: before } = (await readBalance(fixture.billing, account.accountId))!;
    await Promise.all(payments.map((each) => recordTopup(fixture.billing, each)));
    const { main } = (await readBalance(fixture.billing, account.accountId))!;
    expect(main - before).toBe(8n * parseAmount('10'));
  });

  it('refuses another amount under the same payment, and an unknown account', async () => {
    await recordTopup(fixture.billing, payment());
    await expect(recordTopup(fixture.billing, { ...payment(), paidMinor: 1200n })).rejects.toThrow(
      TopupConflict,
    );
    await expect(recordTopup(fixture.billing, { ...payment(), accountId: 'nobody' })).rejects.toThrow(
      UnknownAccount,
    );
  });
});
