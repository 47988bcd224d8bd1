import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CatalogFixture, admin, openCatalog } from '../../../test/support/catalog.js';
import { ProposalService } from '../prices/proposal.service.js';
import { diffVendors, importVendors, type VendorImportOptions } from './vendor.import.js';
import type { VendorModel } from './vendor-model.js';
import { vendorModels } from './vendor-models.js';

let catalog: CatalogFixture;
let service: ProposalService;

beforeAll(async () => {
  catalog = await openCatalog();
  service = new ProposalService({ pool: catalog.ledger.billing, lifeMs: 3_600_000 });
});
afterAll(() => catalog.close());

/** Models made up for this test, as if a vendor sold them. */
function offered(changes: Partial<VendorModel> & Pick<VendorModel, 'id'>): VendorModel {
  return {
    vendor: 'vendorb',
    family: 'image',
    unit: 'call',
    protocol: 'openai',
    limits: {},
    listPrice: { unitPrice: '0.02' },
    source: { url: 'https://example.com/prices', read: '2026-11-01' },
    ...changes,
  };
}

function run(models: readonly VendorModel[], options: Partial<VendorImportOptions> = {}) {
  const parts = { pool: catalog.ledger.billing, service, models: catalog.models, catalog: models };
  const given = { marginPercent: '25', effectiveAt: null, note: '', dryRun: false, addMissing: false };
  return importVendors(parts, { ...given, ...options }, admin());
}

async function stateOf(model: VendorModel) {
  const [found] = await diffVendors(catalog.ledger.billing, [model]);
  return found!;
}

async function inForce(id: string): Promise<string | undefined> {
  const { rows } = await catalog.ledger.owner.query<{ price: string }>(
    'SELECT trim_scale(unit_price)::text AS price FROM price_versions WHERE model_id = $1 ORDER BY id DESC LIMIT 1',
    [id],
  );
  return rows[0]?.price;
}

describe('an import from the vendor catalog', () => {
  it('proposes the list price with the margin, and changes nothing before it is confirmed', async () => {
    const model = offered({ id: 'imgmodel-4' });
    expect(await stateOf(model)).toMatchObject({ state: 'own', asked: { unitPrice: '0.03' }, base: null });
    const { proposal, changed } = await run([model]);
    expect(changed).toMatchObject([{ change: { price: { unitPrice: '0.025' } } }]);
    expect(await inForce('imgmodel-4')).toBe('0.03');
    expect(await stateOf(model)).toMatchObject({ state: 'own', openProposal: proposal!.id });
    await service.confirm(proposal!.id, 1, admin());
    expect(await inForce('imgmodel-4')).toBe('0.025');
    expect(await stateOf(model)).toMatchObject({
      state: 'current',
      base: { marginPercent: '25', listPrice: { unitPrice: '0.02' } },
      openProposal: null,
      isBelowList: false,
    });
  });

  it('reports a list price that changed, and one that we undercut', async () => {
    const model = offered({ id: 'imgmodel-lite', listPrice: { unitPrice: '0.01' } });
    const { proposal } = await run([model], { marginPercent: '10' });
    await service.confirm(proposal!.id, 1, admin());
    const moved = { ...model, listPrice: { unitPrice: '0.0105' } };
    expect(await stateOf(moved)).toMatchObject({ state: 'moved', isBelowList: false });
    const dear = { ...model, listPrice: { unitPrice: '0.02' } };
    expect(await stateOf(dear)).toMatchObject({ state: 'moved', isBelowList: true });
    const { proposal: second } = await run([moved], { marginPercent: '10' });
    await service.confirm(second!.id, 1, admin());
    expect(await stateOf(moved)).toMatchObject({ state: 'current', asked: { unitPrice: '0.01155' } });
  });

  it('forgets the base of a price once someone sets another', async () => {
    const model = offered({ id: 'vendora-imagine-image' });
    const { proposal } = await run([model]);
    await service.confirm(proposal!.id, 1, admin());
    const changes = [{ kind: 'price' as const, model: 'vendora-imagine-image', price: { unitPrice: '0.5' } }];
    const other = await service.propose({ changes, effectiveAt: null, note: '' }, admin());
    await service.confirm(other.id, 1, admin());
    expect(await stateOf(model)).toMatchObject({ state: 'own', base: null });
  });

  it('proposes nothing if everything is up to date', async () => {
    const model = offered({ id: 'vendora-imagine-edit' });
    const { proposal } = await run([model], { marginPercent: '50' });
    await service.confirm(proposal!.id, 1, admin());
    expect(await run([model], { marginPercent: '50.0' })).toMatchObject({ same: 1, proposal: null });
  });

  it('proposes and adds nothing in a dry run', async () => {
    const fresh = offered({ id: 'fresh-1' });
    const tried = await run([fresh, offered({ id: 'imgmodel-4', listPrice: { unitPrice: '9' } })], {
      dryRun: true,
      addMissing: true,
    });
    expect(tried).toMatchObject({ proposal: null, addedModels: ['fresh-1'], missing: [] });
    expect(tried.added).toMatchObject([{ change: { model: 'fresh-1', price: { unitPrice: '0.025' } } }]);
    expect(await stateOf(fresh)).toMatchObject({ state: 'missing' });
    expect(await inForce('imgmodel-4')).not.toBe('11.25');
  });

  it('adds missing models, switched off and in no group', async () => {
    const fresh = offered({ id: 'fresh-2' });
    expect(await run([fresh])).toMatchObject({ proposal: null, missing: ['fresh-2'], addedModels: [] });
    const { proposal, addedModels } = await run([fresh], { addMissing: true });
    expect(addedModels).toEqual(['fresh-2']);
    expect(await catalog.models.find('fresh-2')).toMatchObject({
      groups: [],
      model: { enabled: false, ownedBy: 'vendorb' },
    });
    expect(await stateOf(fresh)).toMatchObject({ state: 'unpriced', openProposal: proposal!.id });
    await service.confirm(proposal!.id, 1, admin());
    expect(await inForce('fresh-2')).toBe('0.025');
  });

  it('leaves out models with a different unit here, and refuses them if named', async () => {
    const video = offered({ id: 'vidmodel-3' });
    const alias = offered({ id: 'vendora-imagine-video-1.5-preview', family: 'video', unit: 'second' });
    expect(await stateOf(video)).toMatchObject({ state: 'unlike', isBelowList: false });
    expect(await stateOf(alias)).toMatchObject({ state: 'alias' });
    expect(await run([video, alias])).toMatchObject({ refused: [], proposal: null });
    await expect(run([video], { models: ['vidmodel-3'] })).rejects.toThrow(/counted otherwise/);
    await expect(run([alias], { models: [alias.id] })).rejects.toThrow(/is an alias here/);
  });

  it.each([
    [{ models: ['nothing'] }, 'models: the catalog has no model nothing.'],
    [{ vendors: ['nobody'] }, 'vendors: the catalog has no vendor nobody.'],
    [{ models: ['fresh-3'] }, 'models: fresh-3 is not here: add missing models as well.'],
    [{ effectiveAt: new Date(0) }, 'effectiveAt'],
  ])('refuses %j', async (choice, message) => {
    const models = [offered({ id: 'fresh-3' }), offered({ id: 'imgmodel-4' })];
    await expect(run(models, choice)).rejects.toThrow(message);
  });

  it('leaves out models without a list price, and refuses them if named', async () => {
    const model = offered({ id: 'imgmodel-4', listPrice: null });
    expect(await stateOf(model)).toMatchObject({ state: 'own', isBelowList: false });
    expect(await run([model], { addMissing: true })).toMatchObject({ refused: [], proposal: null });
    await expect(run([model], { models: ['imgmodel-4'] })).rejects.toThrow(
      'models: imgmodel-4 has no list price: set a price of your own.',
    );
  });

  it('accepts the whole catalog as shipped', async () => {
    const listed = vendorModels.filter(({ listPrice }) => listPrice !== null);
    const { proposal, addedModels, refused } = await run(vendorModels, {
      addMissing: true,
      marginPercent: '12.5',
    });
    expect(refused).toEqual([]);
    expect(addedModels).toEqual(listed.map(({ id }) => id));
    await service.confirm(proposal!.id, 1, admin());
    const states = (await diffVendors(catalog.ledger.billing, listed)).map(({ state }) => state);
    expect(new Set(states)).toEqual(new Set(['current']));
  });

  it('protects its bases from everyone who would change them', async () => {
    for (const sql of ['UPDATE price_bases SET margin_percent = 0', 'DELETE FROM price_bases'])
      await expect(catalog.ledger.billing.query(sql)).rejects.toThrow(/permission denied/);
    await expect(catalog.ledger.owner.query('DELETE FROM price_bases')).rejects.toThrow(/append-only|append/);
  });
});
