import { Controller } from '@nestjs/common';
import type { Readable } from 'node:stream';
import { listBankItems } from '#finance/provider-reports/bank/bank-matching.js';
import type { MatchQuery } from '#finance/provider-reports/payments/match.js';
import { listMatches, summariseMatches } from '#finance/provider-reports/payments/payment-matching.js';
import { listPayouts } from '#finance/provider-reports/payments/payout-matching.js';
import { listedRows, listing, listedPage } from '#finance/listing.js';
import { inSnapshot } from '#finance/snapshot.js';
import { ApiError } from '#platform/errors.js';
import { sendCsv } from '#platform/http/csv.js';
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

/** Our books compared with those of payment providers and banks. */
@Controller()
export class ReconciliationController extends Using({ pool: POOL, config: CONTROL_PLANE_CONFIG }) {
  @Serves(routes.payments)
  payments({ query }: CallOf<typeof routes.payments>) {
    return inSnapshot(this.pool, (client) => listedPage(client, this.matches(query), query));
  }

  @Serves(routes.payments.csv)
  paymentsCsv({ query, database, reply }: CallOf<typeof routes.payments.csv>): Readable {
    return sendCsv(reply, matchColumns, listedRows(database, this.matches(query)));
  }

  @Serves(routes.paymentDays)
  async paymentDays({ query }: CallOf<typeof routes.paymentDays>) {
    const asked = this.matchQuery(query);
    const days = await inSnapshot(this.pool, (client) => summariseMatches(client, asked));
    return { days: days.map(viewMatchDay) };
  }

  @Serves(routes.payouts)
  payouts({ query }: CallOf<typeof routes.payouts>) {
    return inSnapshot(this.pool, (client) => listedPage(client, payoutListing(query), query));
  }

  @Serves(routes.payouts.csv)
  payoutsCsv({ query, database, reply }: CallOf<typeof routes.payouts.csv>): Readable {
    return sendCsv(reply, payoutColumns, listedRows(database, payoutListing(query)));
  }

  @Serves(routes.bank)
  bank({ query }: CallOf<typeof routes.bank>) {
    return inSnapshot(this.pool, (client) => listedPage(client, bankListing(query), query));
  }

  @Serves(routes.bank.csv)
  bankCsv({ query, database, reply }: CallOf<typeof routes.bank.csv>): Readable {
    return sendCsv(reply, bankColumns, listedRows(database, bankListing(query)));
  }

  private matchQuery(filter: MatchFilter): MatchQuery {
    const { provider, state } = filter;
    const { graceMs } = this.config.reconcile;
    return { provider: provider ?? null, states: state ? [state] : null, ...timesOf(filter), graceMs };
  }

  private matches(filter: MatchFilter) {
    const query = this.matchQuery(filter);
    return listing({
      by: ['at', 'provider', 'kind', 'id'],
      read: (client, page) => listMatches(client, query, page),
      view: viewMatch,
      atOnce: FILE_PAGE,
    });
  }
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

function payoutListing(filter: CallOf<typeof routes.payouts.csv>['query']) {
  const { provider, state } = filter;
  const query = { provider: provider ?? null, states: state ? [state] : null, ...timesOf(filter) };
  return listing({
    by: ['at', 'provider', 'payoutId'],
    read: (client, page) => listPayouts(client, query, page),
    view: viewPayout,
    atOnce: FILE_PAGE,
  });
}

function bankListing(filter: CallOf<typeof routes.bank.csv>['query']) {
  const { bankAccountId, state } = filter;
  const query = { bankAccountId: bankAccountId ?? null, states: state ? [state] : null, ...timesOf(filter) };
  return listing({
    by: ['at', 'kind', 'id'],
    read: (client, page) => listBankItems(client, query, page),
    view: viewBankItem,
    atOnce: FILE_PAGE,
  });
}
