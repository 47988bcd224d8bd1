import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, openSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { recogniseAll } from '#ledger/lots/recognition.js';
import { recordLimit } from '#ledger/postings/outflow.js';
import { staffMember } from '../support/staff.js';
import { ensureBuilt, environment, type Finished } from '../support/programs.js';
import { runTollgate } from '../support/tollgate.js';
import { ticketOf } from '../support/tickets.js';
import { waiveAll } from '../support/waivers.js';
import { createLedgerFixture, type LedgerFixture } from '../support/ledger.js';

const MAIN = join(import.meta.dirname, '../../dist/apps/cli/main.js');

let fixture: LedgerFixture;
let main: string;
let as: string;

beforeAll(async () => {
  ensureBuilt();
  fixture = await createLedgerFixture();
  as = (await staffMember(fixture, 'finance')).email;
  main = `customer:${(await fixture.account({ credits: '10.000000001' })).accountId}:main`;
});
afterAll(() => fixture?.close());

function finance(...args: string[]): Promise<Finished> {
  return runTollgate(['finance', ...args], { DATABASE_URL: fixture.urlFor('billing'), TOLLGATE_AS: as });
}

describe('tollgate finance', () => {
  it('prints the trial balance for people and for programs', async () => {
    const { code, stdout } = await finance('trial-balance');
    expect(code).toBe(0);
    expect(stdout).toMatch(/issued:credit\s+10\.000000001\s+CRD/);
    const printed = await finance('trial-balance', '--by', 'effective', '--json');
    const { balances } = JSON.parse(printed.stdout) as { balances: object[] };
    expect(balances).toContainEqual(expect.objectContaining({ code: main, balance: '10.000000001' }));
  });

  it('ends without a word if the reader has gone, as `head` does', async () => {
    for (const how of ['--csv', '--json']) {
      const command = spawn(process.execPath, [MAIN, 'finance', 'trial-balance', how], {
        env: environment({ DATABASE_URL: fixture.urlFor('billing') }),
      });
      command.stdout.destroy();
      let stderr = '';
      command.stderr.on('data', (part: Buffer) => (stderr += String(part)));
      const [code] = (await once(command, 'close')) as [number];
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    }
  });

  it.skipIf(!existsSync('/dev/full'))(
    'says why its output is incomplete, such as on a full disk',
    async () => {
      for (const how of ['--csv', '--json']) {
        const command = spawn(process.execPath, [MAIN, 'finance', 'trial-balance', how], {
          env: environment({ DATABASE_URL: fixture.urlFor('billing') }),
          stdio: ['ignore', openSync('/dev/full', 'w'), 'pipe'],
        });
        let stderr = '';
        command.stderr!.on('data', (part: Buffer) => (stderr += String(part)));
        const [code] = (await once(command, 'close')) as [number];
        expect({ code, stderr }).toEqual({ code: 1, stderr: 'The output could not be written (ENOSPC).\n' });
      }
    },
  );

  it('prints the statement of a ledger account', async () => {
    const { code, stdout } = await finance('statement', main);
    expect(code).toBe(0);
    expect(stdout).toMatch(/Opening\s+0 CRD\nClosing\s+10\.000000001 CRD/);
    const unknown = await finance('statement', 'customer:nobody:main');
    expect(unknown).toMatchObject({ code: 1, stderr: 'There is no ledger account customer:nobody:main.\n' });
  });

  it('writes exports, and refuses invalid ones', async () => {
    const { code, stdout } = await finance('export', '--format', 'hledger', '--account', main);
    expect(code).toBe(0);
    expect(stdout).toContain(`${main}  0 CRD = -10.000000001 CRD`);
    expect((await finance('export', '--format', 'xml')).code).toBe(2);
    expect((await finance('export', '--format', 'csv', '--from', 'yesterday')).code).toBe(2);
    expect((await finance('export', '--format', 'csv', '--summary', '--account', main)).code).toBe(2);
  });

  it('adjusts accounts, from a ticket and below the limit, and reverses mistakes', async () => {
    const { accountId } = await fixture.account({ credits: '5' });
    const { ticketId } = await ticketOf(fixture, accountId);
    const because = ['--reason', 'goodwill', '--ticket', ticketId, '--note', 'slow for a day'];
    const made = await finance('adjust', accountId, '--give', '2.5', ...because, '--json');
    expect(made).toMatchObject({ code: 0, stderr: '' });
    const { id } = JSON.parse(made.stdout) as { id: string };
    const taken = await finance('adjust', accountId, '--take', '9', ...because);
    expect(taken).toMatchObject({ code: 1, stderr: 'The balance is 7.5 credits: no more can be taken.\n' });
    const large = await finance('adjust', accountId, '--give', '18', ...because);
    expect(large).toMatchObject({ code: 0, stdout: expect.stringContaining('Waiting for another person') });
    // The command's own environment raises no limit: the one that billing stored applies to everybody.
    const env = { DATABASE_URL: fixture.urlFor('billing'), TOLLGATE_AS: as, ADJUSTMENT_LIMIT: '1000' };
    const forged = await runTollgate(['finance', 'adjust', accountId, '--give', '18', ...because], env);
    expect(forged.stdout).toContain('Waiting for another person');
    await recordLimit(fixture.billing, 'adjustment', 1_000_000_000n);
    const less = await finance('adjust', accountId, '--give', '1.5', ...because);
    expect(less.stdout).toContain('Waiting for another person');
    await recordLimit(fixture.billing, 'adjustment', 20_000_000_000n);
    expect((await finance('reverse-adjustment', id, '--note', 'a mistake')).code).toBe(0);
    const ofAccount = ['adjustments', '--account', accountId, '--limit', '1'];
    expect((await finance(...ofAccount, '--csv')).stdout.trim().split('\n')).toHaveLength(3);
    expect((await finance(...ofAccount)).stdout).toContain('There are more: raise --limit.');
    const none = await finance('write-off', accountId, '--ticket', ticketId, '--note', 'gone');
    expect(none).toMatchObject({ code: 1, stderr: 'The account has no debt.\n' });
    const unknown = await finance('reverse-write-off', id, '--note', 'a mistake');
    expect(unknown).toMatchObject({ code: 1, stderr: 'There is no such write-off.\n' });
    expect((await finance('write-offs', '--account', accountId)).stdout).toBe('None found.\n');
  });

  it('closes periods, and exits 1 if anything is red', async () => {
    const end = new Date().toISOString();
    const check = await finance('periods', 'check', '--end', end, '--json');
    const { checklist } = JSON.parse(check.stdout) as {
      checklist: { id: string; state: string; waivable: boolean }[];
    };
    const red = checklist.filter(({ state, waivable }) => state === 'failed' && waivable);
    expect(check.code).toBe(checklist.some(({ state }) => state === 'failed') ? 1 : 0);
    expect((await finance('periods', 'waivers', '--end', end)).stdout).toBe('Nothing was waived.\n');
    await waiveAll(
      fixture.billing,
      new Date(end),
      red.map(({ id }) => id),
    );
    const chosen = await finance('periods', 'close', '--end', end, '--margin', '0', '--grace', '999999');
    expect(chosen.stderr).toContain('--grace');
    expect((await finance('periods', 'list')).stdout).toBe('No period has been closed yet.\n');
    const whatIf = await finance('periods', 'check', '--end', end, '--grace', '999999');
    expect(whatIf.stdout).toMatch(
      /^Work younger than 999999 s counts as in progress here; a close uses 300 s\./,
    );
    const young = await finance('periods', 'close', '--end', end);
    expect(young.stderr).toBe('A period is closed 60 s after its end at the earliest.\n');
    const closed = await finance('periods', 'close', '--end', end, '--margin', '0');
    expect(closed).toMatchObject({ code: 0, stdout: expect.stringMatching(/Period\s+1, closed/) });
    expect(closed.stdout).toMatch(/Grace\s+300 s/);
    const shown = await finance('periods', 'show', '1', '--json');
    expect(JSON.parse(shown.stdout)).toMatchObject({
      state: 'closed',
      balances: expect.arrayContaining([expect.objectContaining({ code: main, balance: '10.000000001' })]),
    });
    expect((await finance('periods', 'list')).stdout).toContain('closed');
    const journal = await finance('export', '--format', 'hledger', '--period', '1');
    expect(journal.stdout).toMatch(/^; Ledger from .* effective time, UTC, as recorded before /);
    expect(journal.stdout).toContain(`${main}  0 CRD = -10.000000001 CRD`);
    const statement = await finance('statement', main, '--period', '1', '--json');
    expect(JSON.parse(statement.stdout)).toMatchObject({ by: 'effective', closing: '10.000000001' });
    expect((await finance('export', '--format', 'csv', '--period', '2')).stderr).toBe(
      'There is no period 2.\n',
    );
    expect((await finance('export', '--format', 'csv', '--period', '1', '--by', 'effective')).code).toBe(2);
  });

  it('runs the controls, and exits 1 if they find anything', async () => {
    const { code, stdout } = await finance('check');
    expect({ code, stdout }).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/holds\s+Outstanding holds\s+0/),
    });
    await fixture.owner.query(
      `INSERT INTO charges (id, account_id, state, amount, deadline, created_at)
       SELECT 'lost', account_id, 'held', 5, now() - interval '1 hour', now() - interval '2 hours' FROM customer_balances LIMIT 1`,
    );
    const found = await finance('check', '--control', 'holds', '--json');
    expect(found.code).toBe(1);
    expect(JSON.parse(found.stdout)).toMatchObject({
      controls: [
        { id: 'holds', state: 'red', count: 1, items: [{ subject: 'charge:lost', state: 'overdue' }] },
      ],
    });
    expect((await finance('check', '--control', 'holds', '--control', 'promotion')).stdout).toMatch(
      /charge:lost overdue: 0/,
    );
    await fixture.owner.query(`DELETE FROM charges WHERE id = 'lost'`);
    expect((await finance('check', '--control', 'nothing')).code).toBe(2);
  });

  it('lists what the scheduled controls found', async () => {
    expect((await finance('findings')).stdout).toBe('No findings.\n');
    await fixture.owner.query(
      `INSERT INTO control_findings (control, subject, state, message, details, transaction_ids, first_seen_at, last_seen_at)
       VALUES ('holds', 'charge:x', 'overdue', 'It is held.', '{}', '{}', now(), now())`,
    );
    expect((await finance('findings', '--control', 'holds')).stdout).toMatch(
      /holds\s+charge:x\s+overdue\s+It is held\./,
    );
    const { stdout } = await finance('findings', '--state', 'all', '--json');
    expect(JSON.parse(stdout)).toMatchObject({
      items: [{ subject: 'charge:x', resolvedAt: null }],
      more: false,
    });
  });
});

describe('tollgate finance reports of work and lots', () => {
  it('show what is held, what failed, what invites cost and which lots are left, for people, programs and files', async () => {
    await recogniseAll(fixture.billing);
    const [lot] = (
      JSON.parse((await finance('lots', '--json')).stdout) as { items: { lotId: string; bought: string }[] }
    ).items;
    expect(lot).toMatchObject({ bought: '10.000000001', paid: expect.any(String), left: expect.any(String) });
    expect((await finance('lots', '--csv')).stdout).toMatch(new RegExp(`^lot,account,.*\n${lot!.lotId},`));
    expect((await finance('deferred-revenue', '--csv')).stdout).toMatch(
      /^item,family,amount,transactions\nopening,/,
    );
    await fixture.owner.query(
      `INSERT INTO charges (id, account_id, model_id, group_name, family, state, amount, deadline, created_at)
       SELECT 'lost', account_id, 'imgmodel-4', 'Vendora-Main', 'image', 'held', 5, now() - interval '1 hour', now() - interval '2 hours' FROM customer_balances LIMIT 1`,
    );
    const holds = await finance('holds', '--overdue', '--json');
    expect(JSON.parse(holds.stdout)).toMatchObject({
      overdue: { count: 1 },
      items: [{ chargeId: 'lost', amount: '0.000000005', isOverdue: true }],
    });
    expect((await finance('holds')).stdout).toMatch(/lost\s+0\.000000005\s.*yes/);
    await fixture.owner.query(`UPDATE charges SET state = 'released', resolved_at = now() WHERE id = 'lost'`);
    const refunds = await finance('refunds', '--json');
    expect(JSON.parse(refunds.stdout)).toMatchObject({
      days: [{ failures: 1, refunded: 1, outstanding: 0 }],
    });
    expect((await finance('refunds', '--failures', '--csv')).stdout).toMatch(/^charge,.*\nlost,/);
    expect((await finance('refunds', '--outstanding')).stdout).toBe('No failures found.\n');
    await fixture.owner.query(`DELETE FROM charges WHERE id = 'lost'`);
    const promotion = await finance('promotion', '--json');
    expect(promotion.code).toBe(0);
    expect(JSON.parse(promotion.stdout)).toMatchObject({ given: '0', issued: '0', ties: true, days: [] });
    expect((await finance('promotion', '--csv')).stdout).toMatch(/^day,given,clawed_back,/);
    expect((await finance('trial-balance', '--csv')).stdout).toMatch(/^account,kind,unit,balance\n/);
    expect((await finance('debts', '--csv')).stdout).toMatch(/^account,/);
    const noSuchDay = await finance('periods', 'close', '--end', '2026-02-31');
    expect(noSuchDay).toMatchObject({ code: 2, stderr: expect.stringContaining('Give a day or a time') });
    expect((await finance('price-changes', '--csv')).stdout).toMatch(/^effective_from,until,kind,/);
  });
});

describe('tollgate finance costs and revenue', () => {
  it('set, import and list costs, and say what is wrong with one', async () => {
    const set = await finance('costs', 'set', 'sandbox', 'imgmodel-4', '0.018', '--bills-failures', '--json');
    expect(JSON.parse(set.stdout)).toMatchObject({ cost: { unitCost: '0.018' }, billsFailures: true });
    const file = join(await mkdtemp(join(tmpdir(), 'tollgate-costs-')), 'costs.csv');
    await writeFile(file, 'channel,model,unit_cost\nsandbox,imgmodel-4,0.02\nsandbox,vidmodel-3,0.03\n');
    const dry = await finance('costs', 'import', file, '--dry-run');
    expect(dry).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('2 to set, 0 the same, 0 refused.'),
    });
    expect((await finance('costs', 'import', file)).stdout).toContain('2 set, 0 the same');
    const listed = await finance('costs', 'list');
    expect(listed.stdout).toMatch(/sandbox\s+vidmodel-3\s+0\.03\s+free\s+ever/);
    expect(listed.stdout).not.toContain('There are more');
    expect((await finance('costs', 'list', '--limit', '1')).stdout).toContain(
      'There are more: raise --limit.',
    );
    const one = JSON.parse((await finance('costs', 'list', '--limit', '1', '--json')).stdout) as object;
    expect(one).toMatchObject({ costs: [{}], more: true });
    const chat = await finance('costs', 'set', 'sandbox', 'vendora-chat', '1');
    expect(chat).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('give input, cachedInput and output'),
    });
    expect((await finance('costs', 'set', 'sandbox', 'vendora-chat', '1/2')).code).toBe(1);
    await rm(dirname(file), { recursive: true });
  });

  it('print revenue, bills and price changes', async () => {
    const empty = await finance('revenue', '--by', 'day,model');
    expect(empty).toMatchObject({ code: 0, stdout: expect.stringMatching(/Day\s+Model\s+Charges/) });
    const printed = await finance('revenue', '--from', '2026-01-01', '--to', '2026-02-01', '--json');
    expect(JSON.parse(printed.stdout)).toMatchObject({ rows: [], agrees: true, totals: { gross: '0' } });
    expect((await finance('revenue', '--csv')).stdout).toMatch(/^model,charges,/);
    expect((await finance('revenue', '--by', 'colour')).code).toBe(2);
    expect((await finance('revenue', '--from', '2026-02-31')).code).toBe(2);
    const changes = await finance('price-changes', '--kind', 'price');
    expect(changes.stdout).toMatch(/ever\s+price\s+imgmodel-4\s+-\s+0\.03/);
    const early = await finance(
      'costs',
      'bill',
      'sandbox',
      'A',
      '5',
      '--from',
      '2026-01-01',
      '--to',
      '2026-02-01',
    );
    expect(early).toMatchObject({ code: 1, stderr: expect.stringContaining('no costs are recorded yet') });
    expect((await finance('costs', 'bills')).stdout).toMatch(/No costs were accrued/);
  });
});
