import { afterAll, beforeAll, expect, it } from 'vitest';
import { newId } from '#platform/ids.js';
import { createLedgerFixture, type LedgerFixture } from '../../../test/support/ledger.js';
import { unsaidRefusal } from '../../../test/support/finding-words.js';
import { importCosts } from './cost-file.js';
import { listCosts } from './cost-versions.js';

let ledger: LedgerFixture;

beforeAll(async () => {
  ledger = await createLedgerFixture();
});
afterAll(() => ledger.close());

async function importRows(text: string, { dryRun = false, requestId = newId() } = {}) {
  const by = { actor: 'user:1', reason: 'the price list', requestId, dryRun };
  const imported = await importCosts(ledger.billing, text, by);
  expect(imported.refused.flatMap((row) => unsaidRefusal('costs', row))).toEqual([]);
  return imported;
}

async function inForce(model: string) {
  const costs = await listCosts(ledger.billing, { limit: 5, beforeId: null, model, inForce: true });
  return costs.map(({ cost, billsFailures }) => [cost, billsFailures]);
}

it('sets what differs from the costs in force, and shows it first on request', async () => {
  const file = `channel,model,unit_cost,input_cost,cached_input_cost,output_cost,bills_failures
sandbox,imgmodel-4,0.011,,,,yes
sandbox,vendora-chat,,0.5,0.05,2,
`;
  const trial = await importRows(file, { dryRun: true });
  expect(trial).toMatchObject({ changed: [{ line: 2, before: null }, { line: 3 }], same: 0, refused: [] });
  expect(await inForce('imgmodel-4')).toEqual([]);

  expect((await importRows(file)).changed).toHaveLength(2);
  expect(await inForce('imgmodel-4')).toEqual([[{ unitCost: '0.011' }, true]]);
  expect(await inForce('vendora-chat')).toMatchObject([[{ input: '0.5', output: '2' }, false]]);

  expect(await importRows(file)).toMatchObject({ changed: [], same: 2, refused: [] });
});

it('withdraws a cost', async () => {
  await importRows('channel,model,unit_cost\nsandbox,vidmodel-3,0.2');
  await importRows('channel,model,withdrawn\nsandbox,vidmodel-3,yes');
  expect(await inForce('vidmodel-3')).toEqual([[null, false]]);
});

it('sets nothing if a row is refused, and names every refused line', async () => {
  const { changed, refused } =
    await importRows(`channel,model,unit_cost,withdrawn,bills_failures,effective_from
sandbox,imgmodel-lite,0.01,,,
sandbox,imgmodel-lite,0.02,,,
sandbox,no-such-model,0.01,,,
sandbox,imgmodel-4,a lot,,,
sandbox,vendora-speech,0.01,yes,,
sandbox,vendora-hear,0.01,,perhaps,
sandbox,vendora-3d,0.01,,,tomorrow
,vendora-3d,0.01,,,`);
  expect(changed.map(({ line }) => line)).toEqual([2]);
  expect(refused.map(({ line }) => line)).toEqual([3, 4, 5, 6, 7, 8, 9]);
  expect(refused[0]!.reason).toContain('line 2');
  expect(refused[1]!.reason).toMatch(/^model: /);
  expect(await inForce('imgmodel-lite')).toEqual([]);
});

it('rejects a file without the columns of costs', async () => {
  await expect(importRows('channel,model,price\nsandbox,imgmodel-4,1')).rejects.toThrow('"price"');
  await expect(importRows('channel,unit_cost\nsandbox,1')).rejects.toThrow('lacks channel or model');
  await expect(importRows('channel,model\n"sandbox')).rejects.toMatchObject({ code: 'invalid_value' });
});
