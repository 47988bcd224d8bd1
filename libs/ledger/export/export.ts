import type pg from 'pg';
import { type Horizon, openReport } from '../horizon.js';
import { balanceBefore, type LedgerAccount } from '../ledger-account-statement.js';
import { readTrialBalance } from '../trial-balance.js';
import { beancountFormat } from './beancount.js';
import { hledgerFormat } from './hledger.js';
import {
  type JournalAccount,
  type JournalBalance,
  type JournalFormat,
  type JournalTransaction,
  unitOf,
} from './journal.js';
import { csvFormat, jsonLinesFormat } from './rows.js';

export const exportFormats = {
  csv: csvFormat,
  jsonl: jsonLinesFormat,
  hledger: hledgerFormat,
  beancount: beancountFormat,
} as const satisfies Record<string, JournalFormat>;

export type ExportFormatName = keyof typeof exportFormats;

export interface ExportQuery {
  format: ExportFormatName;
  /** Postings recorded in this time, from inclusive, to exclusive; null: from the beginning, and up to the horizon. */
  from: Date | null;
  to: Date | null;
  /** Only the transactions of one ledger account, each of them whole. Null: all. */
  ledgerAccountId: bigint | null;
  /** One transaction for each day with what moved, customers' accounts together, instead of each transaction. */
  summary: boolean;
  /** What PAY is in, ISO 4217. */
  currency: string;
}

/** Transactions' entries that are fetched at once: what an export holds in memory, besides a balance for each account. */
const FETCH = 4_000;
/** Whoever reads slowly keeps a snapshot of the database open, but not for ever. */
const IDLE_LIMIT = '5min';

/**
 * The journal of a time as text, piece by piece, on one snapshot up to the horizon: read by a cursor of the server day after
 * day, so memory is flat. A reader that stops early ends the snapshot. Throws errors of the database.
 */
export async function* exportLedger(pool: pg.Pool, query: ExportQuery): AsyncGenerator<string, void, void> {
  const report = await openReport(pool);
  try {
    await report.client.query(`SET LOCAL idle_in_transaction_session_timeout = '${IDLE_LIMIT}'`);
    await report.client.query('SET LOCAL cursor_tuple_fraction = 1');
    for await (const piece of new Journal(report.client, query).pieces(report.horizon)) {
      if (piece !== '') yield piece;
    }
  } finally {
    await report.close();
  }
}

interface Range {
  from: string;
  to: string;
  /** The first and last day that have a part in it. */
  firstDay: string;
  lastDay: string;
}

/** Customers' accounts of a summary: one for each purpose. */
const CUSTOMERS = `'customers:' || split_part(a.code, ':', 3)`;

class Journal {
  private readonly format: JournalFormat;
  private readonly accounts = new Map<string, JournalAccount>();
  private readonly held = new Map<JournalAccount, bigint>();

  constructor(
    private readonly client: pg.ClientBase,
    private readonly query: ExportQuery,
  ) {
    this.format = exportFormats[query.format];
  }

  async *pieces(horizon: Horizon): AsyncGenerator<string> {
    const { client, format } = this;
    const range = await readRange(client, horizon, this.query);
    const about = `Ledger from ${range?.from ?? 'the beginning'} to ${range?.to ?? horizon.at}, recorded time, UTC`;
    await this.loadAccounts(range);
    const opening = range && (await this.opening(horizon));
    const declared = [...this.accounts.values(), ...(opening?.counter ? [opening.counter] : [])];
    yield format.head(about, [...new Map(declared.map(({ unit }) => [unit.symbol, unit])).values()]);
    for (let at = 0; at < declared.length; at += FETCH) {
      const some = declared.slice(at, at + FETCH);
      yield some.map((account) => format.account(account)).join('');
    }
    if (range === null) return;
    yield format.opening(range.firstDay, opening?.balances ?? []);
    for (let day = range.firstDay; day <= range.lastDay; day = dayAfter(day)) yield* this.day(range, day);
  }

  /** Loads the accounts that may occur, by what the rows of `day` name them. */
  private async loadAccounts(range: Range | null): Promise<void> {
    const { summary, ledgerAccountId, currency } = this.query;
    const only =
      ledgerAccountId === null
        ? ''
        : `WHERE a.id = $1 OR a.id IN (SELECT other.ledger_account_id FROM ledger_entries own
             JOIN ledger_transactions t ON t.id = own.transaction_id
             JOIN ledger_entries other ON other.transaction_id = own.transaction_id
             WHERE own.ledger_account_id = $1 AND t.recorded_at >= $2::timestamptz AND t.recorded_at < $3::timestamptz)`;
    const { rows } = await this.client.query<
      Pick<LedgerAccount, 'code' | 'kind' | 'commodity'> & { name: string }
    >(
      summary
        ? `SELECT DISTINCT CASE WHEN a.account_id IS NULL THEN a.code ELSE ${CUSTOMERS} END AS name,
             CASE WHEN a.account_id IS NULL THEN a.code ELSE ${CUSTOMERS} END AS code, kind, commodity
           FROM ledger_accounts a ORDER BY 1`
        : `SELECT a.id::text AS name, a.code, a.kind, a.commodity FROM ledger_accounts a ${only} ORDER BY a.id`,
      ledgerAccountId === null ? [] : [ledgerAccountId, range?.from ?? 'infinity', range?.to ?? 'infinity'],
    );
    for (const row of rows) {
      const account = { code: row.code, kind: row.kind, unit: unitOf(row, currency) };
      this.accounts.set(row.name, account);
    }
  }

  /**
   * What accounts held when the time began. Of one account alone it is posted against an account of its own, since the
   * others are told in part only and begin at nothing.
   */
  private async opening(
    horizon: Horizon,
  ): Promise<{ balances: JournalBalance[]; counter: JournalAccount | null } | null> {
    const { from, ledgerAccountId } = this.query;
    if (from === null) return null;
    const balances =
      ledgerAccountId === null
        ? await this.openingOfAll(horizon, from)
        : [
            {
              account: this.account(ledgerAccountId.toString()),
              balance: await balanceBefore(this.client, ledgerAccountId, from.toISOString()),
            },
          ];
    const moved = balances.filter(({ balance }) => balance !== 0n);
    for (const { account, balance } of moved) this.held.set(account, balance);
    const [only] = moved;
    if (ledgerAccountId === null || only === undefined) return { balances: moved, counter: null };
    const counter = { code: 'opening-balances', kind: 'contra' as const, unit: only.account.unit };
    return { balances: [only, { account: counter, balance: -only.balance }], counter };
  }

  private async openingOfAll(horizon: Horizon, from: Date): Promise<JournalBalance[]> {
    const { balances } = await readTrialBalance(this.client, horizon, { by: 'recorded', at: from });
    const sums = new Map<JournalAccount, bigint>();
    for (const { ledgerAccountId, accountId, code, balance } of balances) {
      const name = this.query.summary && accountId !== null ? `customers:${code.split(':')[2] ?? ''}` : code;
      const account = this.account(this.query.summary ? name : ledgerAccountId.toString());
      sums.set(account, (sums.get(account) ?? 0n) + balance);
    }
    return [...sums].map(([account, balance]) => ({ account, balance }));
  }

  private account(name: string): JournalAccount {
    const account = this.accounts.get(name);
    if (!account) throw new Error(`There is no ledger account ${name}.`);
    return account;
  }

  /** The postings of a day, and what the accounts that moved hold at its end. */
  private async *day(range: Range, day: string): AsyncGenerator<string> {
    const touched = new Set<JournalAccount>();
    for await (const transactions of this.transactions(range, day)) {
      let text = '';
      for (const transaction of transactions) {
        for (const { account, amount } of transaction.entries) {
          touched.add(account);
          this.held.set(account, (this.held.get(account) ?? 0n) + amount);
        }
        text += this.format.transaction(transaction);
      }
      yield text;
    }
    const { ledgerAccountId } = this.query;
    const known =
      ledgerAccountId === null ? touched : touched.size > 0 ? [this.account(ledgerAccountId.toString())] : [];
    const balances = [...known].map((account) => ({ account, balance: this.held.get(account) ?? 0n }));
    for (let at = 0; at < balances.length; at += FETCH) {
      yield this.format.balances(day, balances.slice(at, at + FETCH));
    }
  }

  /** Transactions of a day, some at a time, each of them whole. */
  private async *transactions(range: Range, day: string): AsyncGenerator<JournalTransaction[]> {
    const { sql, values } = this.query.summary
      ? summaryOfDay(range, day)
      : entriesOfDay(range, day, this.query);
    await this.client.query(`DECLARE ledger_export NO SCROLL CURSOR FOR ${sql}`, values);
    let last: JournalTransaction | undefined;
    let lastId = '';
    let next = this.fetch();
    for (let more = true; more;) {
      const rows = await next;
      more = rows.length === FETCH;
      // It is fetched while these are written; when nobody reads on, its failure is nobody's.
      if (more) (next = this.fetch()).catch(() => undefined);
      const whole: JournalTransaction[] = [];
      for (const row of rows) {
        if (last === undefined || row[0] !== lastId) {
          if (last) whole.push(last);
          last = transactionOf(day, row);
          lastId = row[0];
        }
        last.entries.push({ account: this.account(row[6]), amount: BigInt(row[7]) });
      }
      if (!more && last) whole.push(last);
      yield whole;
    }
    await this.client.query('CLOSE ledger_export');
  }

  private async fetch(): Promise<EntryRow[]> {
    const { rows } = await this.client.query<EntryRow>({
      text: `FETCH ${FETCH} FROM ledger_export`,
      rowMode: 'array',
    });
    return rows;
  }
}

type EntryRow = [
  id: string,
  recordedAt: string | null,
  effectiveAt: string | null,
  kind: string,
  reference: string | null,
  chargeId: string | null,
  account: string,
  amount: string,
];

function transactionOf(day: string, row: EntryRow): JournalTransaction {
  const [id, recordedAt, effectiveAt, kind, reference, chargeId] = row;
  return {
    ...{ day, kind, reference, chargeId, entries: [] },
    id: recordedAt === null ? null : id,
    recordedAt: isoTime(recordedAt),
    effectiveAt: isoTime(effectiveAt),
  };
}

/** `2026-01-31 10:00:00.5+00` is `2026-01-31T10:00:00.5Z`. */
function isoTime(text: string | null): string | null {
  return text === null ? null : `${text.slice(0, 10)}T${text.slice(11).replace('+00', 'Z')}`;
}

function dayAfter(day: string): string {
  return new Date(Date.parse(day) + 86_400_000).toISOString().slice(0, 10);
}

/** Recorded on the day within the range; bounds of ids from snapshots, where there are some, spare looking elsewhere. */
const ON_DAY = `t.recorded_at >= greatest($1::timestamptz, $3::date::timestamptz)
  AND t.recorded_at < least($2::timestamptz, ($3::date + 1)::timestamptz)
  AND t.id >= coalesce((SELECT max(first_id) FROM ledger_snapshot_days WHERE day <= $3::date), 0)
  AND t.id <= coalesce((SELECT min(last_id) FROM ledger_snapshot_days WHERE day > $3::date), 9223372036854775807)`;

interface Statement {
  sql: string;
  values: unknown[];
}

function entriesOfDay({ from, to }: Range, day: string, { ledgerAccountId }: ExportQuery): Statement {
  const only =
    ledgerAccountId === null
      ? ''
      : 'AND t.id IN (SELECT own.transaction_id FROM ledger_entries own WHERE own.ledger_account_id = $4)';
  return {
    sql: `SELECT t.id::text, t.recorded_at::text, t.effective_at::text, t.kind, t.reference, t.charge_id,
        e.ledger_account_id::text, e.amount::text
      FROM ledger_transactions t JOIN ledger_entries e ON e.transaction_id = t.id
      WHERE ${ON_DAY} ${only} ORDER BY t.id, e.ordinal`,
    values: [from, to, day, ...(ledgerAccountId === null ? [] : [ledgerAccountId])],
  };
}

function summaryOfDay({ from, to }: Range, day: string): Statement {
  return {
    sql: `SELECT 'summary', NULL, NULL, 'summary of the day', NULL, NULL,
        CASE WHEN a.account_id IS NULL THEN a.code ELSE ${CUSTOMERS} END AS name, sum(s.amount)::text
      FROM (SELECT e.ledger_account_id, sum(e.amount) AS amount
        FROM ledger_transactions t JOIN ledger_entries e ON e.transaction_id = t.id WHERE ${ON_DAY} GROUP BY 1) AS s
      JOIN ledger_accounts a ON a.id = s.ledger_account_id GROUP BY name HAVING sum(s.amount) <> 0 ORDER BY name`,
    values: [from, to, day],
  };
}

/** Null: nothing was recorded in it. */
async function readRange(client: pg.ClientBase, horizon: Horizon, query: ExportQuery): Promise<Range | null> {
  const { rows } = await client.query<Range & { isEmpty: boolean }>(
    `SELECT "from"::text, "to"::text, "from"::date::text AS "firstDay", ("to" - interval '1 microsecond')::date::text AS "lastDay",
       "from" >= "to" AS "isEmpty"
     FROM (SELECT greatest($1::timestamptz, coalesce((SELECT min(day) - 1 FROM ledger_snapshot_days)::timestamptz,
           (SELECT min(recorded_at) FROM ledger_transactions))) AS "from",
         least($2::timestamptz, $3::timestamptz) AS "to") AS times
     WHERE "from" IS NOT NULL AND "to" > '-infinity'`,
    [query.from ?? '-infinity', query.to ?? 'infinity', horizon.at],
  );
  const row = rows[0];
  return row && !row.isEmpty ? row : null;
}
