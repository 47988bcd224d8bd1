import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLedgerFixture, type LedgerFixture } from '../../../test/support/ledger.js';
import { exportLedger, type ExportQuery } from './export.js';

const EARLY = new Date('2020-01-01T00:00:00Z');
const WHOLE = { from: null, to: null, ledgerAccountId: null, summary: false, currency: 'USD' };

let fixture: LedgerFixture;
beforeAll(async () => {
  fixture = await createLedgerFixture();
});
afterAll(() => fixture.close());

async function entriesOf(query: Partial<ExportQuery>): Promise<number> {
  let text = '';
  for await (const piece of exportLedger(fixture.billing, { ...WHOLE, ...query, format: 'jsonl' }))
    text += piece;
  return text.split('\n').filter((line) => line.includes('"record":"entry"')).length;
}

const NOTHING: Partial<ExportQuery>[] = [
  { by: 'recorded', to: EARLY },
  { by: 'effective', to: EARLY },
  { by: 'effective', recordedBefore: EARLY },
  { by: 'effective', recordedBefore: EARLY, from: EARLY },
  { by: 'effective', recordedBefore: EARLY, summary: true },
];

describe('an export', () => {
  it('of a ledger without postings has no entries', async () => {
    for (const query of [{}, ...NOTHING]) expect(await entriesOf(query)).toBe(0);
  });

  it('of a time before the first posting has none either', async () => {
    await fixture.account({ credits: '10' });
    expect(await entriesOf({})).toBeGreaterThan(0);
    for (const query of NOTHING) expect(await entriesOf(query)).toBe(0);
  });
});
