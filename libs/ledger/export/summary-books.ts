import type pg from 'pg';
import type { Horizon } from '../postings/horizon.js';
import { readTrialBalance } from '../reports/trial-balance.js';
import type { Books } from './books.js';
import {
  type JournalAccount,
  type JournalBalance,
  type JournalTransaction,
  type AmountUnit,
  unitOf,
} from './journal.js';
import { onDay, openingOf, type Range } from './range.js';

const DAY = { from: '$1', to: '$2', recordedBefore: '$3', day: '$4' };

/** Customers' accounts in a summary: one per purpose. */
const NAME = `CASE WHEN a.account_id IS NULL THEN a.code ELSE 'customers:' || split_part(a.code, ':', 3) END`;

/** One transaction per day with all movements and customers' accounts combined, so there are few accounts. */
export class SummaryBooks implements Books {
  private readonly byName = new Map<string, JournalAccount>();
  private readonly held = new Map<JournalAccount, bigint>();
  private touched = new Set<JournalAccount>();

  constructor(
    private readonly client: pg.ClientBase,
    private readonly query: { from: Date | null; currency: string },
  ) {}

  async units(): Promise<AmountUnit[]> {
    const { rows } = await this.client.query<
      Pick<JournalAccount, 'code' | 'kind'> & { commodity: 'CRD' | 'PAY' | 'UPC' }
    >(`SELECT DISTINCT ${NAME} AS code, kind, commodity FROM ledger_accounts a ORDER BY 1`);
    for (const row of rows) {
      const { code, kind } = row;
      this.byName.set(code, { code, kind, unit: unitOf(row, this.query.currency) });
    }
    return [...this.byName.values()].map(({ unit }) => unit);
  }

  async *accounts(): AsyncGenerator<JournalAccount[]> {
    yield await Promise.resolve([...this.byName.values()]);
  }

  extraAccount(): Promise<null> {
    return Promise.resolve(null);
  }

  async *opening(horizon: Horizon, range: Range): AsyncGenerator<JournalBalance[]> {
    const { from } = this.query;
    if (from === null) return;
    const { balances } = await readTrialBalance(this.client, horizon, openingOf(range, from));
    for (const { accountId, code, balance } of balances) {
      const account = this.account(accountId === null ? code : `customers:${code.split(':')[2] ?? ''}`);
      this.held.set(account, (this.held.get(account) ?? 0n) + balance);
    }
    yield [...this.held]
      .map(([account, balance]) => ({ account, balance }))
      .filter(({ balance }) => balance !== 0n);
  }

  async *transactions(range: Range, day: string): AsyncGenerator<JournalTransaction[]> {
    const { rows } = await this.client.query<{ name: string; amount: string }>(
      `SELECT ${NAME} AS name, sum(s.amount)::text AS amount
       FROM (SELECT e.ledger_account_id, sum(e.amount) AS amount
         FROM ledger_transactions t JOIN ledger_entries e ON e.transaction_id = t.id WHERE ${onDay(range.by, DAY)} GROUP BY 1) AS s
       JOIN ledger_accounts a ON a.id = s.ledger_account_id GROUP BY name HAVING sum(s.amount) <> 0 ORDER BY name`,
      [range.from, range.to, range.recordedBefore, day],
    );
    if (rows.length === 0) return;
    const entries = rows.map(({ name, amount }) => ({ account: this.account(name), amount: BigInt(amount) }));
    for (const { account, amount } of entries) {
      this.touched.add(account);
      this.held.set(account, (this.held.get(account) ?? 0n) + amount);
    }
    const nothing = { id: null, recordedAt: null, effectiveAt: null, reference: null, chargeId: null };
    yield [{ day, ...nothing, kind: 'summary of the day', entries }];
  }

  async *closing(): AsyncGenerator<JournalBalance[]> {
    const { touched } = this;
    this.touched = new Set();
    if (touched.size === 0) return;
    yield await Promise.resolve(
      [...touched].map((account) => ({ account, balance: this.held.get(account) ?? 0n })),
    );
  }

  private account(name: string): JournalAccount {
    const account = this.byName.get(name);
    if (!account) throw new Error(`There is no ledger account ${name}.`);
    return account;
  }
}
