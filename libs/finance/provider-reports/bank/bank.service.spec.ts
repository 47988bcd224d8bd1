import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Actor } from '#identity/role.js';
import { newId } from '#platform/ids.js';
import { actionsOn, auditOf } from '../../../../test/support/audit.js';
import {
  createLedgerFixture,
  type LedgerFixture,
  requireCleanLedger,
} from '../../../../test/support/ledger.js';
import { buy } from '../../../../test/support/ledger-person.js';
import { asking } from '../../../../test/support/payments.js';
import { race } from '../../../../test/support/race.js';
import { staffActor } from '../../../../test/support/staff.js';
import { bankMapping } from './bank-csv.js';
import { importBankCsv } from './bank.import.js';
import { BankService } from './bank.service.js';

const mapping = bankMapping.parse({
  date: { column: 'date' },
  amount: { column: 'amount' },
  currency: { fixed: 'USD' },
  reference: ['text'],
});
const TODAY = new Date().toISOString().slice(0, 10);

let ledger: LedgerFixture;
let service: BankService;
let finance: Actor;

beforeAll(async () => {
  ledger = await createLedgerFixture();
  service = new BankService({ pool: ledger.billing, config: { payments: { currency: 'USD' } } });
  finance = await staffActor(ledger, 'finance');
  await service.save({ id: 'main', mapping }, asking(finance));
});
afterAll(async () => {
  await requireCleanLedger(ledger);
  await ledger.close();
});

/** 13.00 that arrived with a meaningless text, and the top-up of ten credits that someone paid with it. */
async function came(to?: string): Promise<{ bankLineId: bigint; topupId: string }> {
  const text = `payment ${newId()}`;
  const source = async function* () {
    yield `date,amount,text\n${TODAY},13.00,${text}`;
  };
  const options = { actor: 'cli:test', dryRun: false, days: { from: '2020-01-01', to: '2999-01-01' } };
  await importBankCsv(ledger.billing, { accountId: 'main', source }, options);
  const { rows } = await ledger.owner.query<{ id: bigint }>(
    'SELECT id FROM bank_lines WHERE reference = $1',
    [text],
  );
  const accountId = to ?? (await ledger.account({ credits: '0' })).accountId;
  return { bankLineId: rows[0]!.id, topupId: await buy(ledger, { accountId, keyId: '' }, '10') };
}

function match(
  bankLineId: bigint,
  of: { kind?: 'topup' | 'suspense' | 'none'; subject?: string; by?: Actor },
) {
  const { kind = 'topup', subject = null, by = finance } = of;
  return service.match({ bankLineId, kind, subject, note: 'they told us' }, asking(by));
}

async function matchOf(bankLineId: bigint): Promise<string | null> {
  const { rows } = await ledger.owner.query<{ said: string }>(
    `SELECT kind || ' ' || subject AS said FROM bank_matches WHERE bank_line_id = $1 AND undone_at IS NULL`,
    [bankLineId],
  );
  expect(rows.length).toBeLessThanOrEqual(1);
  return rows[0]?.said ?? null;
}

describe('a line of a bank account', () => {
  it('is matched once, even by two people at once, and logged', async () => {
    const { bankLineId, topupId } = await came();
    const both = [finance, await staffActor(ledger, 'finance')].map((by) =>
      match(bankLineId, { subject: topupId, by }),
    );
    expect((await race(both)).succeeded).toBe(1);
    expect(await matchOf(bankLineId)).toBe(`topup ${topupId}`);
    expect(await auditOf(ledger, `bank-line:${bankLineId}`)).toMatchObject([
      { action: 'bank-line.matched', after: { kind: 'topup', subject: topupId } },
    ]);
  });

  it('can be undone, and matched again', async () => {
    const { bankLineId, topupId } = await came();
    await match(bankLineId, { subject: topupId });
    await service.undo(bankLineId, 'a mistake', asking(finance));
    expect(await matchOf(bankLineId)).toBeNull();
    await match(bankLineId, { kind: 'none' });
    expect(await matchOf(bankLineId)).toBe('none ');
    expect(await actionsOn(ledger, `bank-line:${bankLineId}`)).toEqual([
      'bank-line.matched',
      'bank-line.undone',
      'bank-line.matched',
    ]);
  });

  it('whose owner is unknown is put in suspense, once', async () => {
    const { bankLineId } = await came();
    await match(bankLineId, { kind: 'suspense' });
    const { rows } = await ledger.owner.query(
      `SELECT state, amount_minor AS amount FROM suspense_items WHERE reference =
         (SELECT 'bank:main:' || line_id FROM bank_lines WHERE id = $1)`,
      [bankLineId],
    );
    expect(rows).toEqual([{ state: 'open', amount: 1_300n }]);
  });

  it('about money of one’s own account is matched and unmatched by someone else', async () => {
    const { bankLineId, topupId } = await came(finance.accountId);
    const own = { code: 'second_person_required' };
    await expect(match(bankLineId, { subject: topupId })).rejects.toMatchObject(own);
    expect(await matchOf(bankLineId)).toBeNull();
    await match(bankLineId, { subject: topupId, by: await staffActor(ledger, 'finance') });
    await expect(service.undo(bankLineId, 'x', asking(finance))).rejects.toMatchObject(own);
    expect(await matchOf(bankLineId)).toBe(`topup ${topupId}`);
  });

  it('needs a subject and must exist', async () => {
    const { bankLineId } = await came();
    await expect(match(bankLineId, {})).rejects.toMatchObject({
      code: 'missing_required_parameter',
      param: 'subject',
    });
    await expect(match(bankLineId, { subject: newId() })).rejects.toMatchObject({ code: 'not_found' });
    await expect(match(0n, { kind: 'suspense' })).rejects.toMatchObject({ code: 'not_found' });
    expect(await matchOf(bankLineId)).toBeNull();
  });
});

describe('an account at a bank', () => {
  it('is read as it was saved, and each change is logged', async () => {
    const id = 'second';
    await service.save({ id, mapping }, asking(finance));
    const other = { ...mapping, reference: ['other'] };
    await service.save({ id, mapping: other }, asking(finance));
    expect((await service.list()).find((each) => each.id === id)).toMatchObject({ mapping: other });
    const [first, second] = await auditOf(ledger, `bank-account:${id}`);
    expect(first).toMatchObject({ action: 'bank-account.saved', before: null });
    expect(second).toMatchObject({ before: { reference: ['text'] }, after: { reference: ['other'] } });
  });

  it('can be saved again if an earlier version took its mapping', async () => {
    const id = 'earlier';
    const offset = { ...mapping, timeZone: '+08:00' };
    await ledger.owner.query(`INSERT INTO bank_accounts (id, mapping, actor) VALUES ($1, $2, 'user:test')`, [
      id,
      JSON.stringify(offset),
    ]);
    expect(await service.list()).toContainEqual({ id, mapping: offset });
    const days = { from: '2020-01-01', to: '2999-01-01' };
    const source = async function* () {
      yield `date,amount,text\n${TODAY},13.00,x`;
    };
    const imported = () =>
      importBankCsv(ledger.billing, { accountId: id, source }, { actor: 'cli:test', dryRun: true, days });
    await expect(imported()).rejects.toMatchObject({ code: 'conflict' });
    await service.save({ id, mapping }, asking(finance));
    expect(await imported()).toMatchObject({ added: 1 });
  });
});
