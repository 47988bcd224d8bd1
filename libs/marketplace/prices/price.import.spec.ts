import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { admin } from '../../../test/support/catalog.js';
import { createLedgerFixture, type LedgerFixture } from '../../../test/support/ledger.js';
import { unsaidRefusal } from '../../../test/support/finding-words.js';
import { readPriceCsv, readPriceList } from './price-file.js';
import { exportPrices, importPrices } from './price.import.js';
import { ProposalService } from './proposal.service.js';

let ledger: LedgerFixture;
let service: ProposalService;

beforeAll(async () => {
  ledger = await createLedgerFixture();
  service = new ProposalService({ pool: ledger.billing, lifeMs: 3_600_000 });
});
afterAll(() => ledger.close());

let proposals: number;
beforeEach(async () => {
  proposals = await countProposals();
});

async function countProposals(): Promise<number> {
  return (await service.list({ limit: 50, beforeId: null, openOnly: false })).length;
}

async function importRows(
  rows: Parameters<typeof importPrices>[1]['rows'],
  of: { dryRun?: boolean; effectiveAt?: Date | null } = {},
) {
  const { dryRun = false, effectiveAt = null } = of;
  const options = { rows, dryRun, effectiveAt, note: 'a file' };
  const imported = await importPrices({ pool: ledger.billing, service }, options, admin());
  expect(imported.refused.flatMap((row) => unsaidRefusal('prices', row))).toEqual([]);
  return imported;
}

const HEADER = 'kind,subject,unit_price,multiplier,withdrawn';
const csv = (...lines: string[]) => readPriceCsv([HEADER, ...lines].join('\n'));

describe('an export of prices', () => {
  it('is accepted as a CSV file and as a list, and changes nothing', async () => {
    const exported = await exportPrices(ledger.billing);
    for (const rows of [readPriceCsv(exported.csv()), readPriceList(exported.changes)])
      expect(await importRows(rows)).toMatchObject({
        added: [],
        changed: [],
        refused: [],
        same: exported.changes.length,
        proposal: null,
      });
    expect(await countProposals()).toBe(proposals);
  });
});

describe('prices of images and sound in a file', () => {
  const withMedia = (cells: string) =>
    readPriceCsv(
      [
        'kind,subject,input_price,cached_input_price,output_price,image_input_price,image_output_price,audio_output_price',
        `price,chatmodel-2,5,1.25,10,${cells}`,
      ].join('\n'),
    );

  it('have their own columns, and read the same from a CSV file and from a list', async () => {
    const { changed, proposal } = await importRows(withMedia('8,32,'));
    const price = { input: '5', cachedInput: '1.25', output: '10', imageInput: '8', imageOutput: '32' };
    expect(changed).toMatchObject([{ change: { price } }]);
    await service.confirm(proposal!.id, 1, admin());
    const exported = await exportPrices(ledger.billing);
    expect(exported.csv()).toContain(',8,,32,,,\n');
    for (const rows of [readPriceCsv(exported.csv()), readPriceList(exported.changes), withMedia('8.0,32,')])
      expect(await importRows(rows)).toMatchObject({ added: [], changed: [], refused: [] });
    expect((await importRows(withMedia('8,,32'))).changed).toHaveLength(1);
  });
});

describe('rates in a file', () => {
  const withRates = (rates: string) =>
    readPriceCsv(['kind,subject,unit_price,rates', `price,vendora-imagine-image,0.25,${rates}`].join('\n'));

  it('are written in one cell, and read the same from a CSV file and from a list', async () => {
    const rates = 'quality=high size=1024x1024 0.167; size=auto 0.04;';
    const { changed, proposal } = await importRows(withRates(rates));
    const price = {
      unitPrice: '0.25',
      rates: [
        { when: { quality: 'high', size: '1024x1024' }, unitPrice: '0.167' },
        { when: { size: 'auto' }, unitPrice: '0.04' },
      ],
    };
    expect(changed).toMatchObject([{ change: { price } }]);
    await service.confirm(proposal!.id, 1, admin());
    const exported = await exportPrices(ledger.billing);
    expect(exported.csv()).toContain(',size=1024x1024 quality=high 0.167; size=auto 0.04');
    for (const rows of [readPriceCsv(exported.csv()), readPriceList(exported.changes), withRates(rates)])
      expect(await importRows(rows)).toMatchObject({ added: [], changed: [], refused: [] });
  });

  it.each([
    ['quality=high', /rates/],
    ['colour=red 0.1', /rates such as/],
    ['quality=HIGH 0.1', /lower-case/],
    ['size=auto 0.1; quality=low quality=high 0.2', /rates names quality twice/],
    ['quality=high 0.1; quality=high size=auto 0.2', /rates\.1 can never apply/],
  ])('are refused as %s', async (rates, reason) => {
    const { refused } = await importRows(withRates(rates), { dryRun: true });
    expect(refused).toMatchObject([{ line: 2, reason: expect.stringMatching(reason) }]);
  });
});

describe('an import of prices', () => {
  it('proposes the differences, once for the whole file', async () => {
    const rows = csv(
      'price,imgmodel-4,0.04,,',
      'price,imgmodel-lite,0.0100,,',
      'multiplier,Public-Relay,,2,',
    );
    const { changed, same, proposal } = await importRows(rows);
    expect(same).toBe(1);
    expect(changed.map(({ line }) => line)).toEqual([2, 4]);
    expect(changed[0]!.before).toMatchObject({ price: { unitPrice: '0.03' } });
    expect((await service.find(proposal!.id)).changes).toHaveLength(2);
    expect(await countProposals()).toBe(proposals + 1);
  });

  it('proposes nothing in a dry run, and says the same', async () => {
    const rows = csv('price,imgmodel-4,0.05,,');
    const tried = await importRows(rows, { dryRun: true });
    expect(tried).toMatchObject({ dryRun: true, proposal: null });
    expect(await countProposals()).toBe(proposals);
    const { changed } = await importRows(rows);
    expect(changed).toEqual(tried.changed);
  });

  it('proposes nothing if a row is refused, and names each refused row', async () => {
    const rows = csv(
      'price,imgmodel-4,0.05,,',
      'price,none,0.05,,',
      'price,imgmodel-4,0.06,,',
      'price,imgmodel-lite,0.05,,yes',
      'price,imgmodel-lite,1e3,,',
      'tax,imgmodel-lite,1,,',
    );
    const { refused, proposal } = await importRows(rows);
    expect(refused.map(({ line }) => line)).toEqual([3, 4, 5, 6, 7]);
    expect(refused[1]!.reason).toContain('line 2');
    expect(proposal).toBeNull();
    expect(await countProposals()).toBe(proposals);
  });

  it('says what is new if nothing is in force', async () => {
    await ledger.owner.query(
      `INSERT INTO price_versions (model_id, effective_from) VALUES ('vendora-3d', now())`,
    );
    const { added } = await importRows(csv('price,vendora-3d,0.2,,'), { dryRun: true });
    expect(added).toMatchObject([{ change: { model: 'vendora-3d', price: { unitPrice: '0.2' } } }]);
  });

  it('for a time that has passed is refused', async () => {
    const late = importRows(csv('price,imgmodel-4,0.05,,'), { effectiveAt: new Date(0) });
    await expect(late).rejects.toMatchObject({ code: 'invalid_value', param: 'effectiveAt' });
  });
});

describe('a price file', () => {
  it.each([
    ['with a column that is unknown', 'kind,subject,colour\nprice,x,red', 'colour'],
    ['without a subject', 'kind,unit_price\nprice,1', 'lacks kind or subject'],
    ['that is no CSV', 'kind,subject\n"price,x', 'not valid CSV'],
  ])('%s is refused', (_, text, sentence) => {
    expect(() => readPriceCsv(text)).toThrow(sentence);
  });

  it('longer than 5,000 rows is refused', () => {
    expect(readPriceList(Array(5_000).fill({}))).toHaveLength(5_000);
    expect(() => readPriceList(Array(5_001).fill({}))).toThrow('more than 5000 rows');
  });
});
