import type { Catalog, CatalogModel } from '#catalog/catalog.js';
import { modelsForSale } from '#marketplace/offer.js';
import { isInGroup } from '#groups/access.js';
import type { Caller } from '#identity/key-authenticator.js';
import { ApiError } from '#platform/errors.js';
import { ModelWithoutChannel } from '../routing/model-busy.js';
import type { Family } from '#pricing/price-book.js';
import { MAX_MODEL_CHARS } from './limits.js';

/** The paths that serve the models of each type, for clients that use the wrong path. */
const HOME: Partial<Record<Family, string>> = {
  image: 'POST /v1/images/generations',
  video: 'POST /v1/videos',
  chat: 'POST /v1/chat/completions',
  speech: 'POST /v1/audio/speech or /v1/audio/transcriptions',
  '3d': 'POST /v1/3d',
};

/**
 * The models that a caller's key can use now, by id: one without a price or a channel is not for sale. What a hold decides is
 * more recent: keys are remembered for a moment.
 */
export function modelsOfCaller(
  catalog: Catalog,
  { group, allowedModels }: Caller,
  nowMs: number,
): CatalogModel[] {
  return modelsForSale(catalog, group, nowMs).filter((model) => isAllowed(allowedModels, model));
}

function isAllowed(allowed: Caller['allowedModels'], { id, aliasOf }: CatalogModel): boolean {
  return !allowed || allowed.includes(id) || allowed.includes(aliasOf ?? '');
}

/** For what reaches no hold, which decides it by the key as it is then. @throws ApiError model_not_allowed */
export function refuseOtherModels({ allowedModels }: Caller, model: CatalogModel): void {
  if (isAllowed(allowedModels, model)) return;
  const message = `The API key may not use model ${model.id}.`;
  throw new ApiError('model_not_allowed', message, { param: 'model' });
}

/** One of the models that a caller's key can use now. @throws ApiError model_not_found */
export function modelOfCaller(
  catalog: Catalog,
  { id, caller, nowMs }: { id: string; caller: Caller; nowMs: number },
): CatalogModel {
  const model = modelsOfCaller(catalog, caller, nowMs).find((each) => each.id === id);
  if (!model) throw noSuchModel(id, caller.group);
  return model;
}

/** The model as this group sees it. @throws ApiError model_not_found, the same for unknown, switched off and out of the group */
export function modelForGroup(catalog: Catalog, id: string, group: string): CatalogModel {
  const model = catalog.models.get(id);
  if (model?.enabled && isInGroup(catalog.priceBook, group, id)) return model;
  throw noSuchModel(id, group);
}

/** @throws ApiError model_not_supported_here when the model belongs on another path */
export function refuseOtherFamily(model: CatalogModel, family: Family): void {
  if (model.family !== family) throw notSupportedHere(model);
}

export function notSupportedHere(model: CatalogModel): ApiError {
  const home = HOME[model.family];
  const message = `${model.id} is a model for ${model.family} and is not served on this path.`;
  return new ApiError('model_not_supported_here', home ? `${message} Use ${home}.` : message, {
    param: 'model',
  });
}

/** 404 rather than 503, which SDKs would retry: the condition cannot resolve itself. */
export function noSuchModel(id: string, group: string): ApiError {
  return new ApiError('model_not_found', `${noChannel(id, group)}.`, { param: 'model' });
}

/** The model exists, but all its channels are disabled. Reads the same as for a wrong name. */
export function noChannelOn(id: string, group: string): ApiError {
  return new ModelWithoutChannel('model_not_found', `${noChannel(id, group)}.`, { param: 'model' });
}

/** The model exists, but none of its vendors offers this type of call. */
export function noChannelHere(id: string, group: string): ApiError {
  const message = `${noChannel(id, group)} on this path.`;
  return new ModelWithoutChannel('model_not_found', message, { param: 'model' });
}

function noChannel(id: string, group: string): string {
  return `No available channel for model ${id.slice(0, MAX_MODEL_CHARS)} under group ${group}`;
}
