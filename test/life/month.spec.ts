import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { randomInt } from 'node:crypto';
import type pg from 'pg';
import { type ControlOutcome, runControls } from '#finance/control-run.js';
import { controls } from '#finance/controls.js';
import { catchUp } from '#finance/periods/catch-up.js';
import { recordCloseGrace } from '#finance/periods/close-grace.js';
import { closePeriod } from '#finance/periods/period-close.js';
import { trialBalance } from '#ledger/reports/trial-balance.js';
import { ClockedServer, findFaketime } from '../support/month/clocked-server.js';
import { faults, look } from '../support/month/faults.js';
import { Month } from '../support/month/month.js';

const SEED = Number(process.env['MONTH_SEED'] ?? randomInt(2 ** 31));
const SIZE = {
  customers: Number(process.env['MONTH_CUSTOMERS'] ?? 700),
  days: Number(process.env['MONTH_DAYS'] ?? 31),
  requestsPerDay: Number(process.env['MONTH_REQUESTS'] ?? 100),
};
/** Kinds of postings, except for those that chance may leave out in a short month. */
const EVERY_KIND = [
  'hold',
  'settle',
  'release',
  'charge_refund',
  'recognition',
  'upstream_cost',
  'topup',
  'suspense',
  'invite-reward',
  'invite-transfer',
  'psp-fee',
  'payout',
  'bank-transfer',
  'topup-refund',
  'topup-refunded',
  'topup-refund-returned',
  'chargeback',
  'chargeback-won',
  'reward-clawback',
  'adjustment',
  'adjustment-reversed',
  'write-off',
];
const END = new Date('2026-11-01T00:00:00Z');
const LIMITS = { graceMs: 0, limitMs: 120_000 };

describe(`a month in the life of the books (MONTH_SEED=${SEED})`, () => {
  let server: ClockedServer;
  let month: Month;

  beforeAll(async () => {
    server = new ClockedServer(findFaketime());
    month = await Month.begin(server, { seed: SEED, ...SIZE });
    await month.live();
    // On its last evening, everything in transit arrives. Some days later, finance closes the month.
    await month.open('2026-10-31 20:00:00', 1);
    await month.settleEverything();
    await month.importReports();
    await month.close();
    await month.open('2026-11-03 08:00:00', 1);
    // Autovacuum would do this, but a clock that jumps keeps it from running.
    await month.database.owner.query('ANALYZE');
    await catchUp(month.database.billing, { log: month.database.log });
  });
  afterAll(async () => {
    await month.end();
    await server.remove();
  });

  async function outcomes(pool: pg.Pool): Promise<readonly ControlOutcome[]> {
    return (await runControls(pool, { controls, ...LIMITS })).outcomes;
  }

  it('contains every kind of event', async () => {
    const { rows } = await month.database.owner.query<{ kind: string }>(
      'SELECT DISTINCT kind FROM ledger_transactions ORDER BY kind',
    );
    expect(rows.map(({ kind }) => kind)).toEqual(expect.arrayContaining(EVERY_KIND));
  });

  it('ends with every control at 0', async () => {
    const found = await outcomes(month.database.billing);
    const faults = found.filter(({ result, error }) => error !== null || result?.count !== 0);
    expect(
      faults.map(({ control, result, error }) => [control.id, error, result?.items.slice(0, 3)]),
    ).toEqual([]);
  });

  it('closes, and its trial balance does not change', async () => {
    const { billing } = month.database;
    await recordCloseGrace(billing, LIMITS.graceMs);
    const period = await closePeriod(
      billing,
      { end: END, note: null, actor: 'user:finance', requestId: 'october' },
      { marginMs: 1_000, waitMs: 20_000, limitMs: LIMITS.limitMs },
    );
    const { state, abandonedReason, checklist } = period;
    const red = checklist.filter((item) => item.state !== 'ok');
    expect({ state, abandonedReason, red }).toEqual({ state: 'closed', abandonedReason: null, red: [] });
    const again = await trialBalance(billing, {
      by: 'effective',
      at: END,
      recordedBefore: period.recordedBefore,
    });
    expect(again.totals.every(({ total }) => total === 0n)).toBe(true);
  });

  it.each(faults)('finds $what with the intended control, and names it', async (fault) => {
    for (const { planted, found, error } of await look(month.database, fault)) {
      const { control, subject, state } = planted;
      expect({ control, error }).toEqual({ control, error: null });
      const named = found?.items.find((item) => item.subject === subject) ?? found?.items;
      expect({ control, named }).toMatchObject({ control, named: { subject, state } });
    }
  });
});
