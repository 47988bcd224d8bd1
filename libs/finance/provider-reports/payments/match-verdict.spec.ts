import { afterAll, beforeAll, expect, it } from 'vitest';
import { createLedgerFixture, type LedgerFixture } from '../../../../test/support/ledger.js';
import type { MatchState } from './match.js';
import { VERDICT } from './match-verdict.js';

let fixture: LedgerFixture;
beforeAll(async () => {
  fixture = await createLedgerFixture();
});
afterAll(() => fixture?.close());

interface Facts {
  kind: 'payment' | 'refund' | 'return' | 'dispute' | 'adjustment' | 'fee' | 'payout' | 'payout_failure';
  ours: number | null;
  theirs: number | null;
  one_currency: boolean | null;
  things: number | null;
  receipts: number | null;
  changed: boolean;
  accepted: boolean;
  is_young: boolean | null;
  is_under_way: boolean;
  is_covered: boolean | null;
  is_due: boolean | null;
}

/** A payment that both sides know and that agrees. */
const AGREES: Facts = {
  kind: 'payment',
  ours: 500,
  theirs: 500,
  one_currency: true,
  things: 1,
  receipts: 1,
  changed: false,
  accepted: false,
  is_young: false,
  is_under_way: false,
  is_covered: true,
  is_due: true,
};
/** Only the provider has the first; only our books have the second. */
const THEIRS: Partial<Facts> = {
  ours: null,
  things: null,
  one_currency: null,
  is_covered: null,
  is_due: null,
};
const OURS: Partial<Facts> = { theirs: null, receipts: null, one_currency: null, is_young: null };
const UNCOVERED = { is_covered: false, is_due: false };
const NO_REPORT = { is_covered: null, is_due: null };

const CASES: [what: string, facts: Partial<Facts>, state: MatchState][] = [
  ['both agree', {}, 'matched'],
  ['another amount', { theirs: 499 }, 'differs'],
  ['another currency', { one_currency: false }, 'differs'],
  ['both come to nothing, of two currencies', { ours: 0, theirs: 0, one_currency: false }, 'differs'],
  ['reported in two ways, whatever else', { changed: true, accepted: true }, 'differs'],
  ['held twice, although the amounts agree', { things: 2 }, 'twice'],
  ['a refund of two parts is not held twice', { kind: 'refund', things: 2 }, 'matched'],
  ['came twice and was credited once', { theirs: 1000, receipts: 2 }, 'twice'],
  ['came twice and was never credited', { ...THEIRS, theirs: 1000, receipts: 2 }, 'twice'],
  ['a dispute with two lines differs', { kind: 'dispute', theirs: 1000, receipts: 2 }, 'differs'],
  ['accepted, and it agrees now', { accepted: true }, 'accepted'],
  ['accepted, and it does not agree', { accepted: true, theirs: 499 }, 'differs'],
  ['accepted, of another currency', { accepted: true, one_currency: false }, 'differs'],
  ['an accepted fee, which only they report', { ...THEIRS, kind: 'fee', accepted: true }, 'accepted'],
  ['an accepted payout', { ...THEIRS, kind: 'payout', accepted: true }, 'accepted'],
  ['an accepted payment that is not here', { ...THEIRS, accepted: true }, 'missing_here'],
  ['theirs alone, just now', { ...THEIRS, is_young: true }, 'waiting'],
  [
    'theirs alone, a refund that is in progress',
    { ...THEIRS, kind: 'refund', is_under_way: true },
    'waiting',
  ],
  ['theirs alone, for long', THEIRS, 'missing_here'],
  ['theirs alone, which came to nothing', { ...THEIRS, theirs: 0 }, 'matched'],
  ['ours alone, and a report covers it', OURS, 'missing_there'],
  ['ours alone, and no report covers it that should', { ...OURS, is_covered: false }, 'not_covered'],
  ['ours alone, after the last report', { ...OURS, ...UNCOVERED }, 'waiting'],
  ['ours alone, and there is no report', { ...OURS, ...NO_REPORT }, 'waiting'],
  [
    'ours alone, without a report, for a period that ends',
    { ...OURS, ...NO_REPORT, is_due: true },
    'not_covered',
  ],
  ['ours alone, which came to nothing', { ...OURS, ours: 0 }, 'matched'],
];

it.each(CASES)('%s', async (_what, facts, state) => {
  const { rows } = await fixture.owner.query<{ state: MatchState }>(
    `SELECT ${VERDICT} AS state FROM jsonb_to_record($1) AS facts (kind text, ours numeric, theirs numeric,
       one_currency boolean, things numeric, receipts numeric, changed boolean, accepted boolean, is_young boolean,
       is_under_way boolean, is_covered boolean, is_due boolean)`,
    [{ ...AGREES, ...facts }],
  );
  expect(rows).toEqual([{ state }]);
});
