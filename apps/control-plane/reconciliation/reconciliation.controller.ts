import { Controller } from '@nestjs/common';
import type { Readable } from 'node:stream';
import type { BankQuery } from '#finance/provider-reports/bank/bank-matching.js';
import type { MatchQuery } from '#finance/provider-reports/payments/match.js';
import { summariseMatches } from '#finance/provider-reports/payments/payment-matching.js';
import type { PayoutQuery } from '#finance/provider-reports/payments/payout-matching.js';
import { bankListing, matchListing, payoutListing } from '#finance/provider-reports/reconciliation.lists.js';
import { listedPage, listedRows } from '#finance/listing.js';
import { inSnapshot } from '#finance/snapshot.js';
import { invalidField } from '#platform/errors.js';
import { sendCsv } from '#platform/http/csv.js';
import {
  bankColumns,
  matchColumns,
  payoutColumns,
  viewMatchDay,
} from '#finance/provider-reports/reconciliation.view.js';
import { Using } from '#platform/wiring.js';
import { CONTROL_PLANE_CONFIG, POOL } from '../control-plane.tokens.js';
import { type CallOf, Serves } from '../http/route.js';
import { reconciliationRoutes as routes } from './reconciliation.routes.js';

/** Our books compared with those of payment providers and banks. */
@Controller()
export class ReconciliationController extends Using({ pool: POOL, config: CONTROL_PLANE_CONFIG }) {
  @Serves(routes.payments)
  payments({ query }: CallOf<typeof routes.payments>) {
    return inSnapshot(this.pool, (client) => listedPage(client, matchListing(this.matchQuery(query)), query));
  }

  @Serves(routes.payments.csv)
  paymentsCsv({ query, database, reply }: CallOf<typeof routes.payments.csv>): Readable {
    return sendCsv(reply, matchColumns, listedRows(database, matchListing(this.matchQuery(query))));
  }

  @Serves(routes.paymentDays)
  async paymentDays({ query }: CallOf<typeof routes.paymentDays>) {
    const asked = this.matchQuery(query);
    const days = await inSnapshot(this.pool, (client) => summariseMatches(client, asked));
    return { days: days.map(viewMatchDay) };
  }

  @Serves(routes.payouts)
  payouts({ query }: CallOf<typeof routes.payouts>) {
    return inSnapshot(this.pool, (client) => listedPage(client, payoutListing(payoutQuery(query)), query));
  }

  @Serves(routes.payouts.csv)
  payoutsCsv({ query, database, reply }: CallOf<typeof routes.payouts.csv>): Readable {
    return sendCsv(reply, payoutColumns, listedRows(database, payoutListing(payoutQuery(query))));
  }

  @Serves(routes.bank)
  bank({ query }: CallOf<typeof routes.bank>) {
    return inSnapshot(this.pool, (client) => listedPage(client, bankListing(bankQuery(query)), query));
  }

  @Serves(routes.bank.csv)
  bankCsv({ query, database, reply }: CallOf<typeof routes.bank.csv>): Readable {
    return sendCsv(reply, bankColumns, listedRows(database, bankListing(bankQuery(query))));
  }

  private matchQuery({ provider, state, ...times }: MatchFilter): MatchQuery {
    const { graceMs } = this.config.reconcile;
    return { provider: provider ?? null, states: statesOf(state), ...timesOf(times), graceMs };
  }
}

type MatchFilter = Pick<
  CallOf<typeof routes.paymentDays>['query'],
  'provider' | 'state' | 'from' | 'to' | 'before'
>;

function payoutQuery({ provider, state, ...times }: CallOf<typeof routes.payouts.csv>['query']): PayoutQuery {
  return { provider: provider ?? null, states: statesOf(state), ...timesOf(times) };
}

function bankQuery({ bankAccountId, state, ...times }: CallOf<typeof routes.bank.csv>['query']): BankQuery {
  return { bankAccountId: bankAccountId ?? null, states: statesOf(state), ...timesOf(times) };
}

function statesOf<State>(state: State | undefined): State[] | null {
  return state === undefined ? null : [state];
}

function timesOf({
  from,
  to,
  before,
}: Partial<Record<'from' | 'to' | 'before', Date | undefined>>): Record<
  'from' | 'to' | 'before',
  string | null
> {
  if (from && to && from >= to) {
    throw invalidField('to', 'must be after from.');
  }
  return {
    from: from?.toISOString() ?? null,
    to: to?.toISOString() ?? null,
    before: before?.toISOString() ?? null,
  };
}
