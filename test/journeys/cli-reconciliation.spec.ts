import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseAmount } from '#money/amount.js';
import { priceCredits } from '#topup/conversion.js';
import { createLedgerFixture, type LedgerFixture } from '../support/ledger.js';
import { ensureBuilt, type Finished } from '../support/programs.js';
import { runTollgate } from '../support/tollgate.js';
import { staffMember } from '../support/staff.js';
import { StripeStandIn } from '../support/stripe.js';
import { recordTopup } from '../support/topups.js';

let fixture: LedgerFixture;
let stripe: StripeStandIn;
let folder: string;
let as: string;
const dayAt = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
const yesterday = dayAt(-1);
/** A month that has ended. */
const DAYS = ['--from', dayAt(-30), '--to', dayAt(0)];

beforeAll(async () => {
  ensureBuilt();
  fixture = await createLedgerFixture();
  as = (await staffMember(fixture, 'finance')).email;
  stripe = await StripeStandIn.start();
  folder = await mkdtemp(join(tmpdir(), 'tollgate-reports-'));
  await buy('stripe', 'pi_1');
  await buy('manual', 'bank-1');
});
afterAll(async () => {
  await fixture?.close();
  await stripe?.close();
  if (folder) await rm(folder, { recursive: true, force: true });
});

async function buy(provider: 'stripe' | 'manual', paymentId: string): Promise<void> {
  const { accountId } = await fixture.account({ credits: '0' });
  const bought = priceCredits(parseAmount('10'), '1.3');
  await recordTopup(fixture.billing, {
    accountId,
    provider,
    paymentId,
    ...bought,
    rate: '1.3',
    currency: 'USD',
  });
}

function finance(...args: string[]): Promise<Finished> {
  return runTollgate(['finance', ...args], {
    DATABASE_URL: fixture.urlFor('billing'),
    TOLLGATE_AS: as,
    ...stripe.environment,
  });
}

async function file(name: string, ...lines: string[]): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, `${lines.join('\n')}\n`);
  return path;
}

const HEADER =
  'balance_transaction_id,created_utc,currency,gross,fee,reporting_category,source_id,payment_intent_id';

describe('tollgate finance import', () => {
  it('tries a report, imports it once, and names each wrong row', async () => {
    const report = await file(
      'report.csv',
      HEADER,
      `txn_1,${yesterday} 00:00:00,usd,13.00,0.68,charge,ch_1,pi_1`,
    );
    const bare = await finance('import', 'stripe', report);
    expect(bare).toMatchObject({ code: 1, stderr: expect.stringContaining('from is required') });
    const tried = await finance('import', 'stripe', report, '--dry-run', ...DAYS);
    expect(tried).toMatchObject({ code: 0, stdout: expect.stringContaining('nothing was kept') });
    const made = await finance('import', 'stripe', report, '--json', ...DAYS);
    expect(JSON.parse(made.stdout)).toMatchObject({ lines: 1, added: 1, posted: 1, unexplained: [] });
    const again = await finance('import', 'stripe', report, '--json', ...DAYS);
    expect(JSON.parse(again.stdout)).toMatchObject({ added: 0, changed: 0, posted: 0 });
    const bad = await file(
      'bad.csv',
      HEADER,
      'txn_2,never,usd,1,0,fee,,',
      `txn_3,${yesterday},usd,x,0,fee,,`,
    );
    const refused = await finance('import', 'stripe', bad, ...DAYS);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('Line 2, created_utc: must be a time');
    expect(refused.stderr).toContain('Line 3, gross: must be an amount');
    expect((await finance('import', 'stripe')).stderr).toBe('Give either a file or --api.\n');
    expect((await finance('import', 'stripe', join(folder, 'nothing'), ...DAYS)).code).toBe(1);
    const { rows } = await fixture.billing.query(`SELECT FROM audit_log WHERE action = 'report.imported'`);
    expect(rows).toHaveLength(2);
  });

  it('asks Stripe itself, and reports what nobody can explain', async () => {
    stripe.move('fee', -30);
    stripe.move('other_adjustment', -100);
    const { code, stdout } = await finance('import', 'stripe', '--api', '--from', '2026-01-01');
    expect({ code, stdout }).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/-1\.00 USD of stripe \(txn_\w+\) cannot be explained/),
    });
  });

  it("reads a bank's file by a mapping that was set once", async () => {
    const statement = await file(
      'bank.csv',
      'Tag;Betrag;Zweck',
      `${yesterday};13,00;bank-1`,
      `${yesterday};-4,00;Miete`,
    );
    expect((await finance('import', 'bank', 'main', statement, ...DAYS)).stderr).toContain(
      'There is no bank account main',
    );
    const wrong = await finance('import', 'bank', 'main', statement, '--mapping', '{"date": {}}');
    expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('This is not a mapping') });
    const mapping = await file(
      'main.json',
      '{"delimiter": ";", "decimal": ",", "date": {"column": "Tag"}, "amount": {"column": "Betrag"},',
      '"currency": {"fixed": "USD"}, "reference": ["Zweck"]}',
    );
    const asked = ['import', 'bank', 'main', statement, '--json', ...DAYS];
    const tried = await finance(...asked, '--mapping', mapping, '--dry-run');
    expect(JSON.parse(tried.stdout)).toMatchObject({ id: null, added: 2 });
    expect((await finance(...asked)).stderr).toContain('There is no bank account main');
    const made = await finance(...asked, '--mapping', mapping);
    expect(JSON.parse(made.stdout)).toMatchObject({ added: 2, matchedAtBank: 1 });
    expect((await finance(...asked)).code).toBe(0);
  });
});

describe('tollgate finance reconcile', () => {
  it('prints what agrees, and exits 1 for what does not', async () => {
    const payments = await finance('reconcile', 'payments');
    expect(payments.code).toBe(0);
    expect(payments.stdout).toMatch(/stripe payment\s+pi_1\s+13\.00\s+13\.00\s+matched/);
    expect((await finance('reconcile', 'payments', '--days')).stdout).toMatch(/stripe\s+matched/);
    expect((await finance('reconcile', 'payouts', '--json')).stdout).toBe('{"items":[],"more":false}\n');
    const bank = await finance('reconcile', 'bank', '--faults');
    expect(bank.code).toBe(1);
    expect(bank.stdout).toContain('The bank line of -4.00 USD (Miete) is not in our books.');
    const { stdout } = await finance('reconcile', 'bank', '--state', 'matched', '--json');
    expect(JSON.parse(stdout)).toMatchObject({ items: [{ kind: 'line', reference: 'bank-1' }], more: false });
    expect((await finance('reconcile', 'payments', '--state', 'odd')).code).toBe(2);
    const charges = await finance('reconcile', 'charges', '--json');
    expect(charges).toMatchObject({ code: 0, stdout: '{"items":[],"more":false}\n' });
    expect(JSON.parse((await finance('reconcile', 'charges', '--days', '--json')).stdout)).toEqual({
      faults: 0,
      days: [],
    });
    const accepted = await finance('reconcile', 'accept', 'stripe', 'txn_1', '--reason', 'as they wrote');
    expect(accepted).toMatchObject({ code: 1, stderr: expect.stringContaining('nothing to accept') });
    const covered = await finance('reconcile', 'coverage');
    expect(covered).toMatchObject({ code: 0, stdout: expect.stringContaining(`bank main`) });
    const spans = JSON.parse((await finance('reconcile', 'coverage', '--json')).stdout);
    expect(spans.items.at(-1)).toMatchObject({
      provider: 'bank',
      bankAccountId: 'main',
      gaps: [],
      covered: [{ from: `${dayAt(-30)}T00:00:00.000Z`, to: `${dayAt(0)}T00:00:00.000Z` }],
    });
  });
});
