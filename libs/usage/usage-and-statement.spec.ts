import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readBalance } from '#ledger/postings/customer-account.js';
import { parseAmount } from '#money/amount.js';
import type { LedgerFixture } from '../../test/support/ledger.js';
import {
  buy,
  type EngineFixture,
  fail,
  type LedgerPerson,
  openEngine,
  spend,
} from '../../test/support/ledger-person.js';
import { listStatement, type StatementEntry, type StatementFilter } from './statement.store.js';
import { readDailyUsage, readUsage, type UsageEntry, type UsageFilter } from './usage.store.js';

let ledger: LedgerFixture;
let under: EngineFixture;
let someone: LedgerPerson;
let otherKeyId: string;
/** Newest first. */
let charges: string[];

beforeAll(async () => {
  under = await openEngine();
  ({ ledger } = under);
  someone = await ledger.account({ credits: '10' });
  otherKeyId = await ledger.key(someone.accountId);
  const stranger = await ledger.account({ credits: '10' });
  charges = [];
  for (const [keyId, pictures] of [
    [someone.keyId, 1n],
    [otherKeyId, 2n],
    [someone.keyId, 3n],
  ] as const) {
    charges.unshift(await spend(under.engine, { ...someone, keyId }, pictures));
    await spend(under.engine, stranger, 1n);
  }
  await buy(ledger, someone, '5');
});
afterAll(() => under.close());

/** All pages of a list. */
async function pages<T>(
  read: (after: string | null) => Promise<{ items: T[]; next: string | null }>,
): Promise<T[]> {
  const all: T[] = [];
  for (let after: string | null = null; ;) {
    const { items, next } = await read(after);
    all.push(...items);
    if (next === null) return all;
    after = next;
  }
}

function statement(filter: StatementFilter = {}, limit = 50): Promise<StatementEntry[]> {
  return pages((after) =>
    listStatement(ledger.billing, { accountId: someone.accountId, filter }, { limit, after }),
  );
}

function usage(filter: UsageFilter = {}, limit = 50): Promise<UsageEntry[]> {
  return pages((after) =>
    readUsage(ledger.billing, { accountId: someone.accountId, filter }, { limit, after }),
  );
}

const tomorrow = () => new Date(Date.now() + 86_400_000);

describe('the statement of an account', () => {
  it('adds up to the current balances, line by line', async () => {
    const balance = await readBalance(ledger.billing, someone.accountId);
    for (const [name, stands] of [
      ['main', balance!.main],
      ['held', balance!.held],
    ] as const) {
      const lines = await statement({ balance: name });
      expect(lines[0]?.balanceAfter).toBe(stands);
      let after = 0n;
      for (const line of lines.reverse()) {
        after += line.amount;
        expect(line.balanceAfter).toBe(after);
      }
    }
  });

  it('by request has one line for each, with its cost, and adds up to the same balance', async () => {
    const other = await ledger.account({ credits: '10' });
    const ids = [await spend(under.engine, other, 1n), await fail(under.engine, other, 4n)];
    await buy(ledger, other, '5');
    const of = (limit: number) =>
      pages((after) =>
        listStatement(
          ledger.billing,
          { accountId: other.accountId, filter: { view: 'requests' } },
          { limit, after },
        ),
      );
    const lines = await of(50);
    expect(lines.map(({ kind, state, amount }) => [kind, state, amount])).toEqual([
      ['topup', null, parseAmount('5')],
      ['hold', 'released', 0n],
      ['hold', 'settled', -parseAmount('0.03')],
      ['topup', null, parseAmount('10')],
    ]);
    expect(lines.flatMap(({ chargeId }) => chargeId ?? [])).toEqual(ids.reverse());
    expect(await of(1)).toEqual(lines);
    const { main } = (await readBalance(ledger.billing, other.accountId))!;
    expect(lines.reduce((sum, { amount }) => sum + amount, 0n)).toBe(main);
  });

  it('is the same in pages of one line as in one page, newest first, without anybody else’s lines', async () => {
    const all = await statement();
    expect(await statement({}, 1)).toEqual(all);
    const positions = all.map(({ transactionId, ordinal }) => [transactionId, ordinal] as const);
    const sorted = [...positions].sort(([a, x], [b, y]) => (a === b ? y - x : a < b ? 1 : -1));
    expect(positions).toEqual(sorted);
    const told = new Set(all.flatMap(({ chargeId }) => chargeId ?? []));
    expect([...told].sort()).toEqual([...charges].sort());
  });

  it('for a key, a model, a type and a time contains what belongs to them, in pages of any size', async () => {
    const all = await statement();
    for (const [filter, isMeant] of [
      [{ keyId: otherKeyId }, ({ keyId }: StatementEntry) => keyId === otherKeyId],
      [{ kind: 'topup' }, ({ kind }: StatementEntry) => kind === 'topup'],
      [{ model: 'imgmodel-4' }, ({ model }: StatementEntry) => model === 'imgmodel-4'],
      [{ from: all[3]!.at }, ({ at }: StatementEntry) => at >= all[3]!.at],
      [{ to: all[3]!.at }, ({ at }: StatementEntry) => at < all[3]!.at],
    ] as const) {
      const meant = all.filter(isMeant);
      expect(meant.length).toBeGreaterThan(0);
      expect(await statement(filter)).toEqual(meant);
      expect(await statement(filter, 1)).toEqual(meant);
    }
    expect(await statement({ from: tomorrow() })).toEqual([]);
  });
});

describe('the usage of an account', () => {
  it('has each request once, newest first, in pages of any size, without anybody else’s', async () => {
    const all = await usage();
    expect(all.map(({ chargeId }) => chargeId)).toEqual(charges);
    expect(await usage({}, 1)).toEqual(all);
    expect(all.every(({ state, settled, held }) => state === 'settled' && settled === held)).toBe(true);
  });

  it('for a key, a state and a time contains what belongs to them', async () => {
    const ids = async (filter: UsageFilter) => (await usage(filter, 1)).map(({ chargeId }) => chargeId);
    expect(await ids({ keyId: otherKeyId })).toEqual([charges[1]]);
    expect(await ids({ state: 'refused' })).toEqual([]);
    const [newest] = await usage();
    expect(await ids({ to: newest!.at })).toEqual(charges.slice(1));
    expect(await ids({ from: newest!.at })).toEqual(charges.slice(0, 1));
    expect(await ids({ from: tomorrow() })).toEqual([]);
  });

  it('by day adds up to the requests, by key and in total', async () => {
    const filter = { from: new Date(Date.now() - 2 * 86_400_000), to: tomorrow() };
    const daily = (by: 'key' | null) =>
      readDailyUsage(ledger.billing, someone.accountId, { filter, by, limit: 50, after: null });
    const sum = (amounts: (bigint | null)[]) => amounts.reduce<bigint>((all, each) => all + (each ?? 0n), 0n);
    const settled = sum((await usage()).map((each) => each.settled));
    expect(settled).toBe(180_000_000n);
    for (const by of ['key', null] as const) {
      const totals = await daily(by);
      expect(sum(totals.map(({ amount }) => amount))).toBe(settled);
      expect(sum(totals.map(({ requests }) => requests))).toBe(3n);
    }
    const ofOther = (await daily('key')).filter(({ subject }) => subject === otherKeyId);
    expect(sum(ofOther.map(({ amount }) => amount))).toBe(60_000_000n);
  });
});
