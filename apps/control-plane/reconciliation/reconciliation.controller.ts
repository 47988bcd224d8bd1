import { Controller } from '@nestjs/common';
import type pg from 'pg';
import type { Readable } from 'node:stream';
import { type BankItem, type BankKey, listBankItems } from '#finance/provider-reports/bank/bank-matching.js';
import type { MatchedItem, MatchKey, MatchQuery } from '#finance/provider-reports/payments/match.js';
import { listMatches, summariseMatches } from '#finance/provider-reports/payments/payment-matching.js';
import {
  listPayouts,
  type PayoutItem,
  type PayoutKey,
} from '#finance/provider-reports/payments/payout-matching.js';
import { inSnapshot } from '#finance/snapshot.js';
import { ApiError } from '#platform/errors.js';
import { everyRow, sendCsv } from '#platform/http/csv.js';
import { type Page, pageFrom, readCursorInstant } from '#platform/http/page.js';
import {
  bankColumns,
  matchColumns,
  payoutColumns,
  viewBankItem,
  viewMatch,
  viewMatchDay,
  viewPayout,
} from '#finance/provider-reports/reconciliation.view.js';
import { Using } from '#platform/wiring.js';
import { CONTROL_PLANE_CONFIG, POOL } from '../control-plane.tokens.js';
import { type CallOf, Serves } from '../http/route.js';
import { reconciliationRoutes as routes } from './reconciliation.routes.js';

/** Rows of a file that are read at once. */
const FILE_PAGE = 20_000;

/** A list that continues after a key: its first part is a time, the last one unique. */
interface Listing<T> {
  parts: number;
  list: (client: pg.ClientBase, page: { limit: number; after: readonly string[] | null }) => Promise<T[]>;
  keyOf: (item: T) => readonly string[];
}

/** Our books compared with those of payment providers and banks. */
@Controller()
export class ReconciliationController extends Using({ pool: POOL, config: CONTROL_PLANE_CONFIG }) {
  @Serves(routes.payments)
  payments({ query }: CallOf<typeof routes.payments>) {
    return this.page(this.matches(query), query, viewMatch);
  }

  @Serves(routes.payments.csv)
  paymentsCsv({ query, database, reply }: CallOf<typeof routes.payments.csv>): Readable {
    const rows = everyRowOf(database, this.matches(query), viewMatch);
    return sendCsv(reply, matchColumns, rows);
  }

  @Serves(routes.paymentDays)
  async paymentDays({ query }: CallOf<typeof routes.paymentDays>) {
    const asked = this.matchQuery(query);
    const days = await inSnapshot(this.pool, (client) => summariseMatches(client, asked));
    return { days: days.map(viewMatchDay) };
  }

  @Serves(routes.payouts)
  payouts({ query }: CallOf<typeof routes.payouts>) {
    return this.page(payoutListing(query), query, viewPayout);
  }

  @Serves(routes.payouts.csv)
  payoutsCsv({ query, database, reply }: CallOf<typeof routes.payouts.csv>): Readable {
    return sendCsv(reply, payoutColumns, everyRowOf(database, payoutListing(query), viewPayout));
  }

  @Serves(routes.bank)
  bank({ query }: CallOf<typeof routes.bank>) {
    return this.page(bankListing(query), query, viewBankItem);
  }

  @Serves(routes.bank.csv)
  bankCsv({ query, database, reply }: CallOf<typeof routes.bank.csv>): Readable {
    return sendCsv(reply, bankColumns, everyRowOf(database, bankListing(query), viewBankItem));
  }

  private matchQuery(filter: MatchFilter): MatchQuery {
    const { provider, state } = filter;
    const { graceMs } = this.config.reconcile;
    return { provider: provider ?? null, states: state ? [state] : null, ...timesOf(filter), graceMs };
  }

  private matches(filter: MatchFilter): Listing<MatchedItem> {
    const query = this.matchQuery(filter);
    return {
      parts: 4,
      list: (client, { limit, after }) =>
        listMatches(client, query, { limit, after: after as MatchKey | null }),
      keyOf: ({ at, provider, kind, id }) => [at, provider, kind, id],
    };
  }

  private async page<T, V>(
    { parts, list, keyOf }: Listing<T>,
    { limit, cursor }: { limit: number; cursor?: string | undefined },
    view: (item: T) => V,
  ): Promise<Page<V>> {
    const after = readCursorInstant(cursor, parts);
    const found = await inSnapshot(this.pool, (client) => list(client, { limit: limit + 1, after }));
    const { items, nextCursor } = pageFrom(found, limit, keyOf);
    return { items: items.map(view), nextCursor };
  }
}

/** All rows of a list, a page at a time. */
async function* everyRowOf<T, V>(
  database: pg.Pool,
  { list, keyOf }: Listing<T>,
  view: (item: T) => V,
): AsyncGenerator<V> {
  const rows = everyRow<T>(
    (limit, last) => inSnapshot(database, (client) => list(client, { limit, after: last && keyOf(last) })),
    FILE_PAGE,
  );
  for await (const row of rows) yield view(row);
}

type MatchFilter = Pick<
  CallOf<typeof routes.paymentDays>['query'],
  'provider' | 'state' | 'from' | 'to' | 'before'
>;

function timesOf({
  from,
  to,
  before,
}: Partial<Record<'from' | 'to' | 'before', Date | undefined>>): Record<
  'from' | 'to' | 'before',
  string | null
> {
  if (from && to && from >= to) {
    throw new ApiError('invalid_value', 'to: must be after from.', { param: 'to' });
  }
  return {
    from: from?.toISOString() ?? null,
    to: to?.toISOString() ?? null,
    before: before?.toISOString() ?? null,
  };
}

function payoutListing(filter: CallOf<typeof routes.payouts.csv>['query']): Listing<PayoutItem> {
  const { provider, state } = filter;
  const query = { provider: provider ?? null, states: state ? [state] : null, ...timesOf(filter) };
  return {
    parts: 3,
    list: (client, { limit, after }) =>
      listPayouts(client, query, { limit, after: after as PayoutKey | null }),
    keyOf: (item) => [item.at, item.provider, item.payoutId],
  };
}

function bankListing(filter: CallOf<typeof routes.bank.csv>['query']): Listing<BankItem> {
  const { bankAccountId, state } = filter;
  const query = { bankAccountId: bankAccountId ?? null, states: state ? [state] : null, ...timesOf(filter) };
  return {
    parts: 3,
    list: (client, { limit, after }) =>
      listBankItems(client, query, { limit, after: after as BankKey | null }),
    keyOf: ({ at, kind, id }) => [at, kind, id],
  };
}
