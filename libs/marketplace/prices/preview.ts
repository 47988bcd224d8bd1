import type pg from 'pg';
import { loadPriceBook } from '#catalog/catalog.store.js';
import { databaseNowMs, inTransaction } from '#database/database.js';
import { firstIdAt } from '#platform/ids.js';
import type { PriceBook } from '#pricing/price-book.js';
import { type PriceChange, withChanges } from './price-change.js';
import { quoteOf } from '#pricing/quote.js';
import type { Dimensions } from '#pricing/rates.js';
import { countsOfLines, lineKinds } from '#pricing/token-kinds.js';
import { type Terms, termsAt } from '#pricing/terms.js';

export interface PreviewRequest {
  readonly changes: readonly PriceChange[];
  /** null: now. */
  readonly effectiveAt: Date | null;
  /** The requests' time range, from `from` on and before `to`. */
  readonly from: Date;
  readonly to: Date;
}

/** What requests would cost exactly, in nanos: without the changes and with them. */
interface PreviewRow {
  readonly model: string;
  readonly group: string;
  readonly requests: bigint;
  /** Number of accounts that made them. */
  accounts: bigint;
  /** What they cost when they were made. */
  charged: bigint;
  current: bigint;
  proposed: bigint;
  /** Under the changes, the model would not be available in the group: the requests would be refused, and cost nothing. */
  readonly wouldBeRefused: boolean;
}

export interface Preview extends Pick<PreviewRequest, 'from' | 'to'> {
  /** Customers with a request in any of the rows, each counted once. */
  readonly accounts: bigint;
  /** Largest difference first. */
  readonly rows: PreviewRow[];
}

/** Units of each of `lineKinds`, in their order. */
type LineCounts = readonly bigint[];

/** Requests of one size are counted together, priced once, and multiplied. */
interface Sized {
  model: string;
  group: string;
  requests: bigint;
  units: bigint;
  dimensions: Dimensions | null;
  /** What was held and used, for metered work. */
  held: LineCounts | null;
  used: LineCounts | null;
}

/** How far a charge's id, created by a gateway before the hold, may be from it. The index on ids narrows by this. */
const CLOCKS_APART_MS = 10 * 60_000;
/** Rows that are priced in one go, before others in the process have their turn. */
const BATCH = 1_000;

const REQUESTS = `FROM charges
  WHERE id >= $1 AND id < $2 AND created_at >= $3 AND created_at < $4 AND state IN ('held', 'settled')
    AND model_id = ANY ($7::text[]) AND (model_id = ANY ($5::text[]) OR group_name = ANY ($6::text[]))`;

const BY_MODEL = `SELECT model_id AS model, group_name AS "group", count(*) AS requests,
  sum(coalesce(settled, amount))::bigint AS charged ${REQUESTS} GROUP BY 1, 2`;

/** Customers of each model and group, and in the row without either, of all together. */
const BY_ACCOUNT = `WITH seen AS MATERIALIZED (SELECT model_id, group_name, account_id ${REQUESTS} GROUP BY 1, 2, 3)
  SELECT model_id AS model, group_name AS "group", count(DISTINCT account_id) AS accounts
  FROM seen GROUP BY GROUPING SETS ((model_id, group_name), ())`;

const BY_UNITS = `SELECT model_id AS model, group_name AS "group", coalesce(delivered_units, units) AS units,
  dimensions, count(*) AS requests ${REQUESTS} AND lines IS NULL GROUP BY 1, 2, 3, 4`;

/** Lines that every price has are in fixed places. Others are named by the price. */
const PLACED = 5;
const tokensOf = (lines: string) =>
  lineKinds.map((kind, at) => {
    const named = `jsonb_path_query_first(${lines}, '$[${PLACED} to last] ? (@.kind == "${kind}")')`;
    return `coalesce((${at < PLACED ? `${lines} -> ${at}` : named} ->> 'units')::bigint, 0)`;
  });
const HELD = tokensOf('lines');
const USED = tokensOf('coalesce(delivered_lines, lines)');
const IS_WITHIN_HOLD = HELD.map((held, at) => `${USED[at]} <= ${held}`).join(' AND ');

/** No line used more than it held, so the hold limits nothing at any price, and each kind of line is counted by itself. */
const BY_LINE = `SELECT model_id AS model, group_name AS "group", line.kind, line.units, count(*) AS requests
  FROM (SELECT model_id, group_name, ARRAY[${USED.join(', ')}] AS used ${REQUESTS}
    AND lines IS NOT NULL AND ${IS_WITHIN_HOLD}) AS metered,
    unnest(used) WITH ORDINALITY AS line (units, kind) WHERE line.units > 0 GROUP BY 1, 2, 3, 4`;

/** The rest is capped by its hold, whose price changes too. */
const BY_HOLD = `SELECT model_id AS model, group_name AS "group", ARRAY[${HELD.join(', ')}] AS held,
  ARRAY[${USED.join(', ')}] AS used, count(*) AS requests
  ${REQUESTS} AND lines IS NOT NULL AND NOT (${IS_WITHIN_HOLD}) GROUP BY 1, 2, 3, 4`;

/**
 * Prices past requests again with the code that prices holds: their cost when the changes take effect, without and with
 * them. Only models and groups of the changes are included. Requests that ended without a delivery cost nothing in
 * either case and are left out.
 */
export async function previewChanges(pool: pg.Pool, request: PreviewRequest): Promise<Preview> {
  return inTransaction(pool, (client) => preview(client, request), { isolation: 'REPEATABLE READ' });
}

async function preview(client: pg.PoolClient, request: PreviewRequest): Promise<Preview> {
  const book = await loadPriceBook(client);
  const nowMs = await databaseNowMs(client);
  const atMs = Math.max(nowMs, request.effectiveAt?.getTime() ?? -Infinity);
  const pricer = new Pricer(book, withChanges(book, request.changes, atMs), atMs);
  const { byUnit, byToken, all } = selection(book, request);
  for (const values of [byUnit, byToken]) {
    if (values) for await (const row of read<Totals>(client, BY_MODEL, values)) pricer.count(row);
  }
  if (byUnit) for await (const row of read<Sized>(client, BY_UNITS, byUnit)) pricer.add(row);
  if (byToken) {
    for await (const row of read<LineRow>(client, BY_LINE, byToken)) pricer.add(asSized(row));
    for await (const row of read<Sized>(client, BY_HOLD, byToken))
      pricer.add({ ...row, units: 1n, dimensions: null });
  }
  const accounts = await countAccounts(client, all, pricer);
  return { from: request.from, to: request.to, accounts, rows: pricer.result() };
}

/** Adds the customers of each row, and returns how many there are together. */
async function countAccounts(client: pg.PoolClient, all: unknown[], pricer: Pricer): Promise<bigint> {
  const { rows } = await client.query<AccountsRow>(BY_ACCOUNT, all);
  for (const row of rows) pricer.countAccounts(row);
  return rows.find(({ model }) => model === null)?.accounts ?? 0n;
}

interface Selection {
  /** The values of the queries; null if the changes concern no model of the kind. */
  byUnit: unknown[] | null;
  byToken: unknown[] | null;
  /** Of both kinds. */
  all: unknown[];
}

function selection(book: PriceBook, { changes, from, to }: PreviewRequest): Selection {
  const priced = new Set(changes.flatMap((change) => (change.kind === 'price' ? [change.model] : [])));
  const groups = changes.flatMap((change) => (change.kind === 'price' ? [] : [change.group]));
  const all = [...book.models.values()];
  const idsOf = (models: typeof all) => models.map(({ id }) => id);
  const models = all.filter(({ pricedAs }) => priced.has(pricedAs));
  const first = firstIdAt(from.getTime() - CLOCKS_APART_MS);
  const values = [first, firstIdAt(to.getTime() + CLOCKS_APART_MS), from, to, idsOf(models), groups];
  const among = groups.length > 0 ? all : models;
  const [metered, others] = [true, false].map((is) => among.filter(({ unit }) => (unit === 'token') === is));
  const of = (kind: typeof all | undefined) => (kind?.length ? [...values, idsOf(kind)] : null);
  return { byUnit: of(others), byToken: of(metered), all: [...values, idsOf(among)] };
}

type Totals = Pick<PreviewRow, 'model' | 'group' | 'requests' | 'charged'>;
type AccountsRow = { model: string | null; group: string | null; accounts: bigint };
type LineRow = Pick<Sized, 'model' | 'group' | 'requests' | 'units'> & { kind: bigint };

function asSized({ kind, units, ...rest }: LineRow): Sized {
  const used = lineKinds.map((_, at) => (at === Number(kind) - 1 ? units : 0n));
  return { ...rest, units: 1n, dimensions: null, held: null, used };
}

/** Reads with a cursor, because there may be as many sizes as requests. */
async function* read<T>(client: pg.PoolClient, sql: string, values: unknown[]): AsyncGenerator<T> {
  await client.query(`DECLARE sizes NO SCROLL CURSOR FOR ${sql}`, values);
  try {
    for (;;) {
      const { rows } = await client.query(`FETCH ${BATCH} FROM sizes`);
      yield* rows as T[];
      if (rows.length < BATCH) return;
    }
  } finally {
    await client.query('CLOSE sizes').catch(() => undefined);
  }
}

interface Compared {
  row: PreviewRow;
  current: Terms | null;
  proposed: Terms | null;
}

class Pricer {
  private readonly compared = new Map<string, Compared>();

  constructor(
    private readonly book: PriceBook,
    private readonly changed: PriceBook,
    private readonly atMs: number,
  ) {}

  count({ model, group, requests, charged }: Totals): void {
    const { row } = this.of(model, group, requests);
    row.charged += charged;
  }

  countAccounts({ model, group, accounts }: AccountsRow): void {
    if (model !== null && group !== null) this.of(model, group, 0n).row.accounts = accounts;
  }

  add(sized: Sized): void {
    const { row, current, proposed } = this.of(sized.model, sized.group, 0n);
    row.current += costOf(current, sized) * sized.requests;
    row.proposed += costOf(proposed, sized) * sized.requests;
  }

  result(): PreviewRow[] {
    const size = ({ current, proposed }: PreviewRow) =>
      proposed > current ? proposed - current : current - proposed;
    return [...this.compared.values()]
      .map(({ row }) => row)
      .sort((a, b) => (size(a) === size(b) ? (a.model < b.model ? -1 : 1) : size(a) > size(b) ? -1 : 1));
  }

  private of(model: string, group: string, requests: bigint): Compared {
    const key = `${model} ${group}`;
    const known = this.compared.get(key);
    if (known) return known;
    const terms = (book: PriceBook) => {
      const found = termsAt(book, { model, group, atMs: this.atMs });
      return typeof found === 'string' ? null : found;
    };
    const [current, proposed] = [terms(this.book), terms(this.changed)];
    const amounts = { accounts: 0n, charged: 0n, current: 0n, proposed: 0n };
    const row = { model, group, requests, ...amounts, wouldBeRefused: proposed === null };
    const made: Compared = { row, current, proposed };
    this.compared.set(key, made);
    return made;
  }
}

/** The cost of one request of a size: what it used, but never more than its hold. */
function costOf(terms: Terms | null, sized: Sized): bigint {
  const { units, held, used } = sized;
  if (!terms || units === 0n) return 0n;
  const cost = priceOf(terms, sized, used);
  const bound = held ? priceOf(terms, sized, held) : cost;
  return cost < bound ? cost : bound;
}

function priceOf(terms: Terms, { units, dimensions }: Sized, counts: Sized['used']): bigint {
  const lines = counts?.map((count, at) => ({ kind: lineKinds[at]!, units: count }));
  const tokens = lines ? countsOfLines(lines) : null;
  const quoted = quoteOf(terms, { units, tokens, dimensions });
  return typeof quoted === 'string' ? 0n : quoted.amount;
}
