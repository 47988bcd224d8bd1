import { listing } from '../listing.js';
import { type BankQuery, listBankItems } from './bank/bank-matching.js';
import type { MatchQuery } from './payments/match.js';
import { listMatches } from './payments/payment-matching.js';
import { listPayouts, type PayoutQuery } from './payments/payout-matching.js';
import { viewBankItem, viewMatch, viewPayout } from './reconciliation.view.js';

/** Rows of a file that are read at once. */
const FILE_PAGE = 20_000;

export function matchListing(query: MatchQuery) {
  return listing({
    by: ['at', 'provider', 'kind', 'id'],
    read: (client, page) => listMatches(client, query, page),
    view: viewMatch,
    atOnce: FILE_PAGE,
  });
}

export function payoutListing(query: PayoutQuery) {
  return listing({
    by: ['at', 'provider', 'payoutId'],
    read: (client, page) => listPayouts(client, query, page),
    view: viewPayout,
    atOnce: FILE_PAGE,
  });
}

export function bankListing(query: BankQuery) {
  return listing({
    by: ['at', 'kind', 'id'],
    read: (client, page) => listBankItems(client, query, page),
    view: viewBankItem,
    atOnce: FILE_PAGE,
  });
}
