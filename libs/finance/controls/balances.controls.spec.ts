import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type pg from 'pg';
import { inTransaction } from '#database/database.js';
import { adjust } from '#ledger/postings/adjustment.js';
import { lockBalance, post } from '#ledger/postings/posting.js';
import { parseAmount } from '#money/amount.js';
import { newId } from '#platform/ids.js';
import { unsaid } from '../../../test/support/finding-words.js';
import { createLedgerFixture, type LedgerFixture } from '../../../test/support/ledger.js';
import { ticketOf } from '../../../test/support/tickets.js';
import { waiveAll } from '../../../test/support/waivers.js';
import type { Control } from '../control.js';
import { runControls } from '../control-run.js';
import { catchUp } from '../periods/catch-up.js';
import { closedPeriodsControl } from '../periods/closed-periods.control.js';
import type { Period } from '../periods/period.js';
import { closePeriod } from '../periods/period-close.js';
import { adjustmentsControl } from './adjustments.control.js';
import { frozenAccountsControl } from './frozen-accounts.control.js';

/** The owner plants faults past every rule, and the control in charge finds each. */

let fixture: LedgerFixture;
let pool: pg.Pool;
let accountId: string;

beforeAll(async () => {
  fixture = await createLedgerFixture();
  pool = fixture.billing;
});
afterAll(() => fixture.close());
beforeEach(async () => {
  ({ accountId } = await fixture.account({ credits: '10' }));
});

async function found(control: Control) {
  const { outcomes } = await runControls(pool, { controls: [control], graceMs: 0, limitMs: 60_000 });
  const { result, error } = outcomes[0]!;
  expect(error).toBeNull();
  expect(result!.count).toBe(result!.items.length);
  expect(result!.items.flatMap((item) => unsaid(control, item))).toEqual([]);
  return result!.items;
}

/** Changes rows as the database's owner could. */
async function withoutRules(table: string, work: () => Promise<unknown>): Promise<void> {
  await fixture.owner.query(`ALTER TABLE ${table} DISABLE TRIGGER USER`);
  await work();
  await fixture.owner.query(`ALTER TABLE ${table} ENABLE TRIGGER USER`);
}

async function close(): Promise<Period> {
  const request = { end: new Date(), note: null, actor: 'cli', requestId: newId() };
  await waiveAll(pool, request.end);
  const limits = { marginMs: 0, waitMs: 180_000, limitMs: 60_000 };
  const period = await closePeriod(pool, request, {
    ...limits,
    catchUp: () => catchUp(pool, { log: fixture.log }),
  });
  expect(period).toMatchObject({ state: 'closed' });
  return period;
}

describe('the control of adjustments', () => {
  it('finds a posting that no service made, and a second person who approved nothing', async () => {
    expect(await found(adjustmentsControl)).toEqual([]);
    const { ticketId, userId } = await ticketOf(fixture, accountId);
    const requestedBy = `user:${userId}`;
    const made = await inTransaction(pool, (client) =>
      adjust(client, {
        accountId,
        ticketId,
        amount: parseAmount('7'),
        reason: 'goodwill',
        note: 'for a friend',
        requestedBy,
        approvedBy: 'user:nobody',
        requestId: newId(),
      }),
    );
    const posted = await inTransaction(pool, async (client) => {
      const account = await lockBalance(client, accountId);
      return post(client, {
        kind: 'adjustment',
        reference: `adjustment:${newId()}:1`,
        accountId,
        movements: [
          { code: 'adjust:goodwill', commodity: 'CRD', amount: 5n },
          { account, purpose: 'main', amount: -5n },
        ],
      });
    });
    expect(await found(adjustmentsControl)).toMatchObject([
      { subject: `adjustment:${made.id}`, state: 'approval_missing', transactionIds: [made.transactionId] },
      { subject: `transaction:${posted}`, state: 'posting_differs', transactionIds: [posted] },
    ]);
  });
});

describe('the control of accounts in debt', () => {
  it('finds an account that is still frozen for a debt that was paid', async () => {
    expect(await found(frozenAccountsControl)).toEqual([]);
    await withoutRules('customer_balances', () =>
      fixture.owner.query(
        `UPDATE customer_balances SET frozen = true, frozen_reason = 'debt' WHERE account_id = $1`,
        [accountId],
      ),
    );
    expect(await found(frozenAccountsControl)).toMatchObject([
      { subject: `account:${accountId}`, state: 'frozen_without_debt', details: { main: '10 CRD' } },
    ]);
  });
});

describe('the control of closed periods', () => {
  it('finds amounts, dates, rows and stored balances that were changed after the close', async () => {
    // Otherwise, the faults above would prevent the close.
    await fixture.close();
    fixture = await createLedgerFixture();
    pool = fixture.billing;
    ({ accountId } = await fixture.account({ credits: '10' }));
    const first = await close();
    await fixture.account({ credits: '5' });
    const second = await close();
    expect(await found(closedPeriodsControl)).toEqual([]);

    const topup = `(SELECT transaction_id FROM topups WHERE account_id = '${accountId}')`;
    const main = `customer:${accountId}:main`;
    const change = (by: number) =>
      withoutRules('ledger_entries', () =>
        fixture.owner.query(
          `UPDATE ledger_entries SET amount = amount + sign(amount) * $1 WHERE commodity = 'CRD' AND transaction_id = ${topup}`,
          [by],
        ),
      );
    await change(7);
    const edited = await found(closedPeriodsControl);
    expect(edited.map(({ subject }) => subject).sort()).toEqual(
      [first, second].flatMap(({ id }) => [`period:${id}:${main}`, `period:${id}:issued:credit`]).sort(),
    );
    expect(edited[0]).toMatchObject({ state: 'differs' });
    await change(-7);
    expect(await found(closedPeriodsControl)).toEqual([]);

    const shift = (by: string) =>
      withoutRules('ledger_transactions', () =>
        fixture.owner.query(
          `UPDATE ledger_transactions SET effective_at = effective_at + $1::interval WHERE id = ${topup}`,
          [by],
        ),
      );
    await shift('1 day');
    expect((await found(closedPeriodsControl)).map(({ subject }) => subject)).toContain(
      `period:${first.id}:${main}`,
    );
    await shift('-1 day');

    await withoutRules('ledger_period_balances', () =>
      fixture.owner.query(
        'UPDATE ledger_period_balances SET balance = balance + 1 WHERE period_id = $1 AND balance > 1',
        [first.id],
      ),
    );
    expect(await found(closedPeriodsControl)).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ subject: `period:${first.id}`, state: 'hash_differs' }),
      ]),
    );

    await withoutRules('ledger_transactions', () =>
      fixture.owner.query(
        `INSERT INTO ledger_transactions (id, kind, reference, effective_at)
         VALUES (nextval('ledger_transaction_blocks'), 'topup', 'slipped in', $1)`,
        [new Date(second.endsAt.getTime() - 1)],
      ),
    );
    expect(await found(closedPeriodsControl)).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          state: 'inside',
          details: expect.objectContaining({ reference: 'slipped in' }),
        }),
      ]),
    );
  });
});
