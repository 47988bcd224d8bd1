import { Controller, Get, Param } from '@nestjs/common';
import { CatalogCache } from '#catalog/catalog.cache.js';
import { type Catalog, type CatalogModel, channelsFor } from '#catalog/catalog.js';
import type { Caller } from '#identity/key-authenticator.js';
import { Upstreams } from '#upstream/adapters.js';
import { Using } from '#platform/wiring.js';
import { CallerOf, RouteRules } from '../http/caller.js';
import { modelOfCaller, modelsOfCaller, noSuchModel } from '../http/model-access.js';
import { CONTENTS_CALLS, nativeCallsOf } from './google-request.js';
import { listNativeModelsOperation, retrieveNativeModelOperation } from './google.openapi.js';

interface GoogleModel {
  name: string;
  displayName: string;
  supportedGenerationMethods: string[];
}

/** The models that can be called in Google's native style. */
@Controller('v1beta/models')
export class GoogleModelsController extends Using({
  catalog: CatalogCache,
  upstreams: Upstreams,
}) {
  @Get()
  @RouteRules({ doc: listNativeModelsOperation })
  async list(@CallerOf() caller: Caller): Promise<{ models: GoogleModel[] }> {
    const catalog = await this.catalog.get();
    const models = modelsOfCaller(catalog, caller, this.catalog.nowMs());
    const entries = models.map((model) => entryOf(model, this.methodsOf(catalog, model, caller)));
    return { models: entries.filter((entry) => entry.supportedGenerationMethods.length > 0) };
  }

  @Get(':model')
  @RouteRules({ doc: retrieveNativeModelOperation })
  async retrieve(@CallerOf() caller: Caller, @Param('model') id: string): Promise<GoogleModel> {
    const catalog = await this.catalog.get();
    const model = modelOfCaller(catalog, { id, caller, nowMs: this.catalog.nowMs() });
    const methods = this.methodsOf(catalog, model, caller);
    if (methods.length === 0) throw noSuchModel(id, caller.group);
    return entryOf(model, methods);
  }

  /** Contents are answered by chat models with a channel whose vendor takes them as they are. */
  private methodsOf(catalog: Catalog, model: CatalogModel, { group }: Caller): string[] {
    if (model.family !== 'chat') return nativeCallsOf(model);
    const channels = channelsFor(catalog, { model: model.id, group });
    return this.upstreams.serving(channels, 'contents').length > 0 ? [...CONTENTS_CALLS] : [];
  }
}

function entryOf({ id }: CatalogModel, supportedGenerationMethods: string[]): GoogleModel {
  return { name: `models/${id}`, displayName: id, supportedGenerationMethods };
}
