import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { VENDORA, VENDORA_MAIN } from '#groups/group.js';
import { newId } from '#platform/ids.js';
import { auditOf } from '../../../test/support/audit.js';
import { admin, type CatalogFixture, openCatalog } from '../../../test/support/catalog.js';
import { race } from '../../../test/support/race.js';
import type { NewModel } from './model.service.js';

/** A group that sells at list price, and may not serve what Vendora-Main does. */
const PARTNERS = 'Partners';

let catalog: CatalogFixture;

beforeAll(async () => {
  catalog = await openCatalog();
  const atListPrice = { multiplier: '1', fixedPerCall: null, models: [] };
  await catalog.groups.create({ name: PARTNERS, ...atListPrice }, admin());
});
afterAll(() => catalog.close());

function newModel(of: Partial<NewModel> = {}): NewModel {
  const id = `model-${newId()}`;
  const rest = { ownedBy: 'vendorb', enabled: true, limits: {}, groups: [PARTNERS] };
  return { id, family: 'image', ...rest, ...of };
}

function create(of: Partial<NewModel> = {}) {
  return catalog.models.create(newModel(of), admin());
}

const invalid = (param: string) => ({ code: 'invalid_value', param });

describe('a new model', () => {
  it('is created once, by one of two who try at once, logged and announced', async () => {
    const wanted = newModel({ limits: { maxImages: 4 }, groups: [VENDORA_MAIN, PARTNERS, VENDORA_MAIN] });
    const before = await catalog.announced();
    const both = [1, 2].map(() => catalog.models.create(wanted, admin()));
    expect(await race(both)).toEqual({ succeeded: 1, refused: ['conflict'] });
    expect(await catalog.models.find(wanted.id)).toMatchObject({
      model: { family: 'image', unit: 'call', limits: { maxImages: 4 }, aliasOf: null },
      groups: [PARTNERS, VENDORA_MAIN].sort(),
    });
    expect(await auditOf(catalog.ledger, `model:${wanted.id}`)).toMatchObject([{ action: 'model.created' }]);
    expect(await catalog.announced()).toBe(before + 1);
  });

  it.each([
    ['image', undefined, 'call'],
    ['video', undefined, 'second'],
    ['3d', 'call', 'call'],
    ['chat', 'call', 'call'],
    ['speech', 'token', 'token'],
  ] as const)('in the family %s with the unit %s is priced by the %s', async (family, unit, priced) => {
    const { model } = await create({ family, unit, groups: [VENDORA_MAIN] });
    expect(model.unit).toBe(priced);
  });

  it.each([
    ['image', 'second', invalid('unit')],
    ['video', 'call', invalid('unit')],
    ['chat', undefined, { code: 'missing_required_parameter', param: 'unit' }],
    [undefined, 'call', { code: 'missing_required_parameter', param: 'family' }],
  ] as const)('in the family %s is not priced by the %s', async (family, unit, refusal) => {
    await expect(create({ family, unit })).rejects.toMatchObject(refusal);
  });

  it('is in no group that does not exist, and in none that may not serve it', async () => {
    await expect(create({ groups: ['No-Such'] })).rejects.toMatchObject(invalid('groups'));
    await expect(create({ family: 'video' })).rejects.toMatchObject(invalid('groups'));
    await expect(create({ ownedBy: VENDORA })).rejects.toMatchObject(invalid('groups'));
    expect(await create({ ownedBy: VENDORA, groups: [VENDORA_MAIN] })).toMatchObject({
      groups: [VENDORA_MAIN],
    });
  });

  it('leaves nothing behind if it is refused', async () => {
    const wanted = newModel({ family: 'video' });
    await expect(catalog.models.create(wanted, admin())).rejects.toMatchObject(invalid('groups'));
    await expect(catalog.models.find(wanted.id)).rejects.toMatchObject({ code: 'not_found' });
    expect(await auditOf(catalog.ledger, `model:${wanted.id}`)).toEqual([]);
  });
});

describe('an alias', () => {
  it('has the family and unit of its model, and goes where its model may', async () => {
    const { model } = await create({ family: 'chat', unit: 'token' });
    const { model: alias } = await create({ family: undefined, aliasOf: model.id });
    expect(alias).toMatchObject({ family: 'chat', unit: 'token', aliasOf: model.id });
    const ofVendor = await create({ ownedBy: VENDORA, groups: [VENDORA_MAIN] });
    const hidden = create({ family: undefined, aliasOf: ofVendor.model.id, ownedBy: 'another' });
    await expect(hidden).rejects.toMatchObject(invalid('groups'));
  });

  it('belongs to an existing model that is no alias itself, and is like it', async () => {
    const { model } = await create();
    const { model: alias } = await create({ family: undefined, aliasOf: model.id });
    for (const of of [
      { aliasOf: 'none' },
      { aliasOf: alias.id },
      { aliasOf: model.id, family: 'chat' as const },
    ])
      await expect(create({ family: undefined, ...of })).rejects.toMatchObject(invalid('aliasOf'));
  });
});

describe('a change of a model', () => {
  it('sets what is named and keeps the rest, even if two change it at once', async () => {
    const { model } = await create({ limits: { maxImages: 4 } });
    const change = (wanted: Parameters<CatalogFixture['models']['change']>[1]) =>
      catalog.models.change(model.id, wanted, admin());
    await Promise.all([change({ enabled: false }), change({ ownedBy: 'vendorc' })]);
    const { model: now } = await change({ limits: { maxImages: 2 } });
    expect(now).toMatchObject({ enabled: false, ownedBy: 'vendorc', limits: { maxImages: 2 } });
    const [, , , last] = await auditOf(catalog.ledger, `model:${model.id}`);
    expect(last).toMatchObject({
      action: 'model.changed',
      before: { enabled: false, ownedBy: 'vendorc', limits: { maxImages: 4 } },
      after: { limits: { maxImages: 2 } },
    });
  });

  it('is made once if two make it from the same state', async () => {
    const { model } = await create({ limits: { maxImages: 4 } });
    const was = { limits: { maxImages: 4 } };
    const both = [{ maxImages: 2 }, {}].map((limits) =>
      catalog.models.change(model.id, { limits, was }, admin()),
    );
    expect(await race(both)).toEqual({ succeeded: 1, refused: ['conflict'] });
    await expect(
      catalog.models.change(model.id, { limits: { maxImages: 1 }, was }, admin()),
    ).rejects.toMatchObject({
      code: 'conflict',
      param: 'was.limits',
    });
  });

  it('moves it to no vendor whose models its groups may not serve', async () => {
    const { model } = await create();
    const { model: alias } = await create({ family: undefined, aliasOf: model.id });
    const given = catalog.models.change(model.id, { ownedBy: VENDORA }, admin());
    await expect(given).rejects.toMatchObject(invalid('ownedBy'));
    expect((await catalog.models.find(alias.id)).model.ownedBy).toBe('vendorb');
  });

  it('accepts no contradictory seconds, and no model that does not exist', async () => {
    const { model } = await create({ family: 'video', groups: [VENDORA_MAIN] });
    for (const limits of [
      { minSeconds: 6, defaultSeconds: 5 },
      { defaultSeconds: 16, maxSeconds: 15 },
      { minSeconds: 9, maxSeconds: 8 },
    ])
      await expect(catalog.models.change(model.id, { limits }, admin())).rejects.toMatchObject(
        invalid('limits'),
      );
    await expect(catalog.models.change('none', {}, admin())).rejects.toMatchObject({ code: 'not_found' });
  });
});

describe('the list of models', () => {
  it('is ordered by ID, in pages of any size and by family', async () => {
    const all = await catalog.models.list({ limit: 500, after: '' });
    const ids = all.map(({ model }) => model.id);
    const paged: string[] = [];
    for (let after = ''; ;) {
      const page = await catalog.models.list({ limit: 3, after });
      paged.push(...page.map(({ model }) => model.id));
      if (page.length < 3) break;
      after = paged.at(-1)!;
    }
    expect(paged).toEqual(ids);
    const videos = await catalog.models.list({ limit: 500, after: '', family: 'video' });
    expect(videos).toEqual(all.filter(({ model }) => model.family === 'video'));
  });
});
