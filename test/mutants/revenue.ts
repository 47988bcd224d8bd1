import type { Mutant } from './mutant.js';

const PLAYER = 'libs/ledger/lots/lot-player.ts';
const AMOUNT = 'libs/money/amount.ts';
const QUOTE = 'libs/pricing/quote.ts';

const LOTS = 'libs/ledger/lots/lot-player.spec.ts';
const RECOGNITION = 'libs/ledger/lots/recognition.spec.ts';
const MODEL = 'libs/ledger/money-in.model.spec.ts';

/** Prices, rounding, lots and their revenue, costs, and the checks of all these. */
export const revenueMutants: readonly Mutant[] = [
  {
    id: 'revenue-rounded-up',
    fault: 'revenue is recognised before it is earned',
    file: PLAYER,
    text: '(paidMinor * used) / credits;',
    instead: '(paidMinor * used + credits - 1n) / credits;',
    spec: LOTS,
  },
  {
    id: 'restored-lot-passed-over',
    fault: 'credits that returned to an old lot are skipped',
    file: PLAYER,
    text: '      this.first = 0;',
    instead: '',
    spec: LOTS,
  },
  {
    id: 'debt-returned-twice',
    fault: 'a refund forgives a debt and returns its credits as well',
    file: PLAYER,
    text: '      left -= forgiven;',
    instead: '',
    spec: LOTS,
  },
  {
    id: 'rest-of-lot-lost',
    fault: 'the last part of a lot leaves without the rounding difference in it',
    file: 'libs/ledger/lots/lots.ts',
    text: 'if (credits === lot.unused) return lot.paidMinor - lot.recognisedMinor;',
    instead: '',
    spec: MODEL,
  },
  {
    id: 'chunk-written-twice',
    fault: 'two recognisers write the same part of the ledger',
    file: 'libs/ledger/lots/recognition-writer.ts',
    text: '.filter(({ accountId, cursor }) => cursors.get(accountId) === (cursor ?? 0n))',
    instead: '.filter(({ accountId }) => cursors.has(accountId))',
    spec: RECOGNITION,
  },
  {
    id: 'charge-rounded-down',
    fault: 'a charge is rounded down',
    file: AMOUNT,
    text: '(exact.digits * NANOS_PER_UNIT + denominator - 1n) / denominator',
    instead: '(exact.digits * NANOS_PER_UNIT) / denominator',
    spec: 'libs/money/amount.spec.ts',
  },
  {
    id: 'payment-rounded-down',
    fault: 'credits are sold for less than their price',
    file: AMOUNT,
    text: '(numerator + denominator - 1n) / denominator',
    instead: 'numerator / denominator',
    spec: 'libs/topup/conversion.spec.ts',
  },
  {
    id: 'rate-ignored',
    fault: 'an expensive size is sold at the default size’s price',
    file: QUOTE,
    text: 'rateFor(rates, { ...dimensions, length: String(units) }) ?? { unitPrice: listed }',
    instead: '{ unitPrice: listed }',
    spec: 'libs/pricing/rates.spec.ts',
  },
  {
    id: 'multiplier-ignored',
    fault: 'metered work is sold without its group’s multiplier',
    file: QUOTE,
    text: 'sum + amountFor(line.unitPrice, multiplier, line.units)',
    instead: 'sum + amountFor(line.unitPrice, { digits: 1n, scale: 0 }, line.units)',
    spec: 'libs/pricing/quote.spec.ts',
    test: 'multiplies each line of tokens',
  },
  {
    id: 'cache-writes-free',
    fault: 'cache writes are free if they have no line of their own',
    file: 'libs/pricing/token-kinds.ts',
    text: 'counts[other] += counts[kind];',
    instead: '',
    spec: 'libs/pricing/recompute.spec.ts',
  },
  {
    id: 'price-a-moment-late',
    fault: 'a price is not in force at its first moment',
    file: 'libs/groups/version.ts',
    text: 'effectiveFromMs <= atMs',
    instead: 'effectiveFromMs < atMs',
    spec: 'libs/groups/terms.spec.ts',
  },
  {
    id: 'cost-told-twice',
    fault: 'two programs record one day’s cost at once',
    file: 'libs/finance/costs/accrual.ts',
    text: "'SELECT through::text, windows FROM cost_progress FOR UPDATE'",
    instead: "'SELECT through::text, windows FROM cost_progress'",
    spec: 'libs/finance/costs/accrual.spec.ts',
  },
  {
    id: 'zero-sum-off',
    fault: 'the database accepts entries that do not sum to zero',
    file: 'libs/database/migrations/0001_first_light.sql',
    text: 'GROUP BY transaction_id, commodity HAVING sum(amount) <> 0 LIMIT 1;',
    instead: 'GROUP BY transaction_id, commodity HAVING sum(amount) IS NULL LIMIT 1;',
    spec: 'libs/ledger/checks/ledger-guards.spec.ts',
    test: 'entries that do not sum to zero',
  },
  {
    id: 'check-blind',
    fault: 'the ledger check accepts any held balance',
    file: 'libs/ledger/checks/charge-checks.ts',
    text: 'WHERE coalesce(b.held, 0) <> coalesce(c.open, 0)`',
    instead: 'WHERE b.held IS NULL`',
    spec: 'libs/ledger/checks/ledger-guards.spec.ts',
    test: 'names a breach of invariant',
  },
];
