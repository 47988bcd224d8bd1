import type pg from 'pg';
import { ApiError, invalidField } from '#platform/errors.js';
import type { PriceText } from '#pricing/price-text.js';
import type { ModelService } from '../catalog/model.service.js';
import { type Comparison, readPriceList } from '../prices/price-file.js';
import { importPrices, type PriceImport } from '../prices/price.import.js';
import { readPrices } from '../prices/prices-here.js';
import type { DoneBy, ProposalNote, ProposalService } from '../prices/proposal.service.js';
import { askedPrice } from './margin.js';
import { noteBases, readBases } from './price-bases.js';
import { compareVendorModels, type VendorComparison, type VendorState } from './vendor-diff.js';
import type { VendorModel } from './vendor-model.js';

/** Which models of the catalog. With neither, all of them. */
export interface VendorChoice {
  readonly models?: readonly string[];
  readonly vendors?: readonly string[];
}

export interface VendorImportOptions extends VendorChoice {
  /** Percent of the list price. */
  readonly marginPercent: string;
  readonly effectiveAt: Date | null;
  readonly note: string;
  readonly dryRun: boolean;
  /** Adds missing models, switched off and in no group. */
  readonly addMissing: boolean;
}

export interface VendorImport extends PriceImport {
  /** Added models. In a dry run, those that would be added. */
  readonly addedModels: readonly string[];
  /** Missing models that are left out. */
  readonly missing: readonly string[];
}

interface Parts {
  readonly pool: pg.Pool;
  readonly service: ProposalService;
  readonly models: Pick<ModelService, 'create'>;
  readonly catalog: readonly VendorModel[];
}

/** The selected part of the catalog. @throws ApiError naming an unknown selection */
export function chosenVendorModels(
  catalog: readonly VendorModel[],
  choice: VendorChoice,
): readonly VendorModel[] {
  const { models = [], vendors = [] } = choice;
  const noModel = models.find((id) => !catalog.some((each) => each.id === id));
  if (noModel !== undefined) throw unknown('models', `model ${noModel}`);
  const noVendor = vendors.find((name) => !catalog.some(({ vendor }) => vendor === name));
  if (noVendor !== undefined) throw unknown('vendors', `vendor ${noVendor}`);
  return catalog.filter(
    ({ id, vendor }) =>
      (models.length === 0 || models.includes(id)) && (vendors.length === 0 || vendors.includes(vendor)),
  );
}

function unknown(param: string, what: string): ApiError {
  return new ApiError('invalid_value', `${param}: the catalog has no ${what}.`, { param });
}

/** Compares the catalog with this installation. */
export async function diffVendors(
  pool: pg.Pool,
  catalog: readonly VendorModel[],
): Promise<VendorComparison[]> {
  const { book } = await readPrices(pool);
  return compareVendorModels(catalog, book, await readBases(pool));
}

/**
 * Derives prices from list prices and creates one proposal of those that differ from what is in force. No price changes
 * before someone confirms it. Named models must exist here. For a whole vendor, missing models are left out, unless
 * they are to be added. @throws ApiError
 */
export async function importVendors(
  parts: Parts,
  wanted: VendorImportOptions,
  by: DoneBy,
): Promise<VendorImport> {
  const { pool, catalog } = parts;
  const { book } = await readPrices(pool);
  const chosen = chosenVendorModels(catalog, wanted);
  const compared = compareVendorModels(chosen, book, await readBases(pool));
  const isNamed = (wanted.models ?? []).length > 0;
  if (isNamed) refuseNamed(compared, wanted);
  const listed = (states: readonly VendorState[]) =>
    compared.flatMap(({ model, state }) => (isListed(model) && states.includes(state) ? [model] : []));
  const missing = listed(['missing']);
  const here = listed(['unpriced', 'own', 'current', 'moved']);
  const added = wanted.addMissing ? missing : [];
  const result = wanted.dryRun
    ? withAdded(await proposePrices(parts, { ...wanted, priced: here }, by), added, wanted.marginPercent)
    : await addAndPropose(parts, { ...wanted, here, added }, by);
  return {
    ...result,
    addedModels: added.map(({ id }) => id),
    missing: wanted.addMissing ? [] : missing.map(({ id }) => id),
  };
}

/** A model with a price to derive another from. */
type ListedModel = VendorModel & { readonly listPrice: PriceText };
type Priced = VendorImportOptions & { priced: readonly ListedModel[] };

function isListed(model: VendorModel): model is ListedModel {
  return model.listPrice !== null;
}

/** Models are added one by one. If this is killed, a repeat finds those that exist. */
async function addAndPropose(
  parts: Parts,
  wanted: VendorImportOptions & Record<'here' | 'added', readonly ListedModel[]>,
  by: DoneBy,
): Promise<PriceImport> {
  for (const { id, vendor: ownedBy, family, unit, limits } of wanted.added)
    await parts.models.create({ id, ownedBy, family, unit, limits, enabled: false, groups: [] }, by);
  return proposePrices(parts, { ...wanted, priced: [...wanted.here, ...wanted.added] }, by);
}

function proposePrices({ pool, service }: Parts, wanted: Priced, by: DoneBy): Promise<PriceImport> {
  const { priced, marginPercent, effectiveAt, note, dryRun } = wanted;
  const rows = readPriceList(priced.map((model) => priceRow(model, marginPercent)));
  const also: ProposalNote = async (client, proposal) => {
    const proposed = new Set(proposal.changes.map(({ change }) => 'model' in change && change.model));
    const bases = priced.filter(({ id }) => proposed.has(id));
    await noteBases(
      client,
      proposal,
      bases.map(({ id, listPrice }) => ({ model: id, listPrice, marginPercent })),
    );
  };
  return importPrices({ pool, service }, { rows, effectiveAt, note, dryRun, also }, by);
}

/** For a whole vendor, models that cannot be priced are left out. For a named model it is an error. @throws ApiError */
function refuseNamed(compared: readonly VendorComparison[], { addMissing }: VendorImportOptions): void {
  const faults: Partial<Record<VendorState, string>> = {
    alias: 'is an alias here: it costs what its model costs',
    unlike: 'is of another family here, or counted otherwise',
    ...(!addMissing && { missing: 'is not here: add missing models as well' }),
  };
  const faultOf = ({ model, state }: VendorComparison) =>
    isListed(model) ? faults[state] : 'has no list price: set a price of your own';
  const first = compared.find((each) => faultOf(each) !== undefined);
  if (!first) return;
  throw invalidField('models', `${first.model.id} ${faultOf(first)}.`);
}

function priceRow(model: ListedModel, marginPercent: string) {
  return { kind: 'price', model: model.id, price: askedPrice(model.listPrice, marginPercent) } as const;
}

/** A dry run adds no models, so it cannot compare their prices, which would be new. */
function withAdded<T extends Comparison>(result: T, models: readonly ListedModel[], margin: string): T {
  const rows = models.map((model, at) => ({
    line: result.added.length + result.changed.length + at + 1,
    change: priceRow(model, margin),
    before: null,
  }));
  return { ...result, added: [...result.added, ...rows] };
}
