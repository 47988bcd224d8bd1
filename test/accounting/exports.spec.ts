import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parse } from 'csv-parse/sync';
import { beancountAccount } from '#ledger/export/beancount.js';
import { exportFormats, exportLedger, type ExportQuery } from '#ledger/export/export.js';
import { ChainBuilder, currentHead } from '#ledger/chain/chain.js';
import { exactly, unitOf } from '#ledger/export/journal.js';
import { listLedgerAccounts } from '#ledger/reports/ledger-account-statement.js';
import { type LedgerBalance, type TrialBalance, trialBalance } from '#ledger/reports/trial-balance.js';
import { LedgerLife } from '../support/ledger-life.js';
import { createLedgerFixture, type LedgerFixture } from '../support/ledger.js';
import { runPythonProgram } from '../support/python-programs.js';

/** The real programs read every export of a ledger with every kind of posting, and find the balances that we report. */
const run = promisify(execFile);
const DAY_MS = 86_400_000;
const DAYS = 4;

let fixture: LedgerFixture;
let folder: string;
let files = 0;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tollgate-accounting-'));
  fixture = await createLedgerFixture();
  const life = new LedgerLife(fixture);
  for (let round = 0; round < 2; round += 1) await life.everything();
  await life.close();
  await fixture.owner.query(`ALTER TABLE ledger_transactions DISABLE TRIGGER append_only`);
  await fixture.owner.query(
    `UPDATE ledger_transactions t SET recorded_at = r.at, effective_at = r.at
     FROM (SELECT id, recorded_at - ($1::int - ntile($1) OVER (ORDER BY id)) * interval '1 day' AS at
       FROM ledger_transactions) AS r WHERE r.id = t.id`,
    [DAYS],
  );
  await fixture.owner.query(`ALTER TABLE ledger_transactions ENABLE TRIGGER append_only`);
});
afterAll(async () => {
  await fixture.close();
  await rm(folder, { recursive: true });
});

type Range = Pick<ExportQuery, 'from' | 'to' | 'ledgerAccountId' | 'summary'>;
const WHOLE: Range = { from: null, to: null, ledgerAccountId: null, summary: false };

async function exported(format: ExportQuery['format'], range: Range): Promise<string> {
  let text = '';
  for await (const piece of exportLedger(fixture.billing, { format, ...range, currency: 'USD' }))
    text += piece;
  return text;
}

async function fileOf(format: ExportQuery['format'], range: Range): Promise<string> {
  const file = join(folder, `${(files += 1)}.${exportFormats[format].extension}`);
  await writeFile(file, await exported(format, range));
  return file;
}

/** The sums of an export as computed by hledger, after passing its strict checks. Debits are positive. */
async function byHledger(range: Range): Promise<Map<string, string>> {
  const file = await fileOf('hledger', range);
  const { stdout } = await run(
    'hledger',
    ['-f', file, 'bal', '--strict', '--flat', '-N', '-E', '-O', 'csv'],
    {
      maxBuffer: 1e8,
    },
  );
  const rows: { account: string; balance: string }[] = parse(stdout, { columns: true });
  // An account at zero has no commodity any more.
  return new Map(rows.filter(({ balance }) => balance !== '0').map((row) => [row.account, row.balance]));
}

const SUMS = 'SELECT account, currency, sum(number) AS total GROUP BY account, currency';

/** The sums of each export as computed by beancount, after passing its checks. */
async function byBeancount(ranges: readonly Range[]): Promise<Map<string, string>[]> {
  const names: string[] = [];
  for (const range of ranges) names.push(await fileOf('beancount', range));
  const checked = await runPythonProgram(
    'bean-check',
    names.map((file) => [file]),
  );
  expect(checked).toEqual(names.map(() => ({ code: 0, output: '' })));
  const queried = await runPythonProgram(
    'bean-query',
    names.map((file) => ['-f', 'csv', '-m', file, SUMS]),
  );
  return queried.map(({ code, output }) => {
    expect(code).toBe(0);
    const rows: { account: string; currency: string; total: string }[] = parse(output, {
      columns: true,
      trim: true,
    });
    const moved = rows.filter(({ total }) => Number(total) !== 0);
    return new Map(moved.map(({ account, currency, total }) => [account, `${total} ${currency}`]));
  });
}

/** Our balances in the other program's format. */
function ours(
  balances: readonly LedgerBalance[],
  nameOf: (account: LedgerBalance) => string,
): Map<string, string> {
  const moved = balances.filter(({ balance }) => balance !== 0n);
  return new Map(
    moved.map((account) => {
      const unit = unitOf(account, 'USD');
      return [nameOf(account), `${exactly(-account.balance, unit)} ${unit.symbol}`];
    }),
  );
}

/** Customers' accounts combined, as in a summary. */
function together({ balances }: TrialBalance): LedgerBalance[] {
  const sums = new Map<string, LedgerBalance>();
  for (const account of balances) {
    const code = account.accountId === null ? account.code : `customers:${account.code.split(':')[2]}`;
    const balance = (sums.get(code)?.balance ?? 0n) + account.balance;
    sums.set(code, { ...account, code, balance });
  }
  return [...sums.values()];
}

const moves = ({ balances }: TrialBalance, code: string) => balances.some((each) => each.code === code);
const balancesAt = (at: Date | null) => trialBalance(fixture.billing, { by: 'recorded', at });
const midnight = (days: number) => new Date((Math.floor(Date.now() / DAY_MS) - days) * DAY_MS);

describe('an export', () => {
  it('has postings of every type', async () => {
    const { rows } = await fixture.billing.query<{ kind: string }>(
      'SELECT DISTINCT kind FROM ledger_transactions ORDER BY 1',
    );
    expect(rows.map(({ kind }) => kind)).toEqual(
      expect.arrayContaining([
        'charge_refund',
        'chargeback',
        'chargeback-won',
        'hold',
        'invite-reward',
        'invite-transfer',
        'recognition',
        'release',
        'reward-clawback',
        'settle',
        'suspense',
        'suspense-returned',
        'upstream_bill',
        'upstream_cost',
        'adjustment',
        'adjustment-reversed',
        'write-off',
        'write-off-reversed',
        'topup',
        'topup-refund',
        'topup-refund-returned',
        'topup-refunded',
        'suspense-expensed',
        'psp-fee',
        'payout',
        'payout-returned',
        'bank-transfer',
        'bank-transfer-undone',
        'report-line-change',
      ]),
    );
  });

  it.each([
    ['of everything', { ...WHOLE }],
    ['from a day on', { ...WHOLE, from: midnight(1) }],
    ['up to a day', { ...WHOLE, to: midnight(1) }],
    ['of one day', { ...WHOLE, from: midnight(2), to: midnight(1) }],
    ['from an hour of a day on', { ...WHOLE, from: new Date(Date.now() - 2 * DAY_MS) }],
    ['before there was anything', { ...WHOLE, to: midnight(30) }],
    ['in summary', { ...WHOLE, summary: true }],
    ['in summary, of some days', { ...WHOLE, summary: true, from: midnight(2), to: midnight(0) }],
  ])('%s passes both programs, and their balances are ours', async (_, range) => {
    const report = await balancesAt(range.to);
    const balances = range.summary ? together(report) : report.balances;
    expect(await byHledger(range)).toEqual(ours(balances, ({ code }) => code));
    expect(await byBeancount([range])).toEqual([ours(balances, beancountAccount)]);
  });

  it('of each ledger account passes both programs, and its balance is ours', async () => {
    const accounts = await listLedgerAccounts(fixture.billing, { limit: 100, after: null, codePrefix: null });
    const report = await balancesAt(null);
    const customer = accounts.find(({ code }) => code.endsWith(':invite') && moves(report, code))?.accountId;
    const moved = accounts.filter(
      ({ accountId, code }) => (accountId === null || accountId === customer) && moves(report, code),
    );
    expect(moved.length).toBeGreaterThan(10);
    const cases = moved.flatMap(({ id, code }) =>
      [null, midnight(1)].map((from) => ({ code, range: { ...WHOLE, ledgerAccountId: id, from } })),
    );
    const own = (code: string) => report.balances.filter((each) => each.code === code);
    for (const { code, range } of cases) {
      const sums = await byHledger(range);
      expect(sums.get(code)).toEqual(ours(own(code), (account) => account.code).get(code));
    }
    const sums = await byBeancount(cases.map(({ range }) => range));
    for (const [index, { code }] of cases.entries()) {
      const [[name, sum] = ['', undefined]] = ours(own(code), beancountAccount);
      expect([code, sums[index]?.get(name)]).toEqual([code, sum]);
    }
  });

  it('is refused by both programs if one amount in it was changed', async () => {
    const tamper = (text: string) =>
      text.replace(
        /(\n +\S+ +-?[\d.]+)(\d)(?= CRD\n)/,
        (_, before: string, digit: string) => `${before}${9 - Number(digit)}`,
      );
    for (const [format, program, args] of [
      ['hledger', 'hledger', (file: string) => ['-f', file, 'check', '--strict']],
      ['beancount', 'bean-check', (file: string) => [file]],
    ] as const) {
      const file = join(folder, `tampered.${format}`);
      await writeFile(file, tamper(await exported(format, WHOLE)));
      await expect(run(program, args(file))).rejects.toThrow();
    }
  });

  it('begins with the head of the chain, so that a copy of it is outside the database', async () => {
    const builder = new ChainBuilder({ pool: fixture.billing, log: { info: () => undefined } });
    await builder.seal();
    const head = await currentHead(fixture.billing);
    if (!head) throw new Error('Nothing was sealed.');
    const words = `chain block ${head.number} hash ${head.hash} up to transaction ${head.lastId}`;
    const first = async (format: ExportQuery['format']) => (await exported(format, WHOLE)).split(/\r?\n/);
    for (const format of ['hledger', 'beancount'] as const)
      expect((await first(format))[1]).toContain(`; ${words}`);
    expect(JSON.parse((await first('jsonl'))[0] ?? '')).toMatchObject({
      chain: expect.stringContaining(words),
    });
    const [row]: Record<string, string>[] = parse(await exported('csv', WHOLE), { columns: true });
    expect(row).toMatchObject({ record: 'chain', transaction: head.lastId.toString(), reference: head.hash });
    await byHledger(WHOLE);
    await byBeancount([{ ...WHOLE, summary: true }]);
  });

  it('has every entry exactly, both as CSV and as JSON Lines', async () => {
    const { rows } = await fixture.billing.query<{ total: bigint; count: bigint }>(
      `SELECT sum(abs(e.amount))::bigint AS total, count(*) AS count FROM ledger_entries e WHERE commodity = 'CRD'`,
    );
    const nano = (text: string) => BigInt(text.replace(/[-.]/g, ''));
    const csv: Record<string, string>[] = parse(await exported('csv', WHOLE), { columns: true });
    const jsonl = (await exported('jsonl', WHOLE))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, string>);
    for (const records of [csv, jsonl]) {
      const entries = records.filter(({ record, commodity }) => record === 'entry' && commodity === 'CRD');
      const total = entries.reduce((sum, { amount }) => sum + nano(amount!), 0n);
      expect({ total, count: BigInt(entries.length) }).toEqual(rows[0]);
    }
    expect(jsonl.filter(({ record }) => record === 'balance').length).toBeGreaterThan(20);
  });
});
