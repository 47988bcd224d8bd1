import { Controller, Get, Inject, Param } from '@nestjs/common';
import { CatalogCache } from '#catalog/catalog.cache.js';
import type { CatalogModel } from '#catalog/catalog.js';
import type { Caller } from '#identity/key-authenticator.js';
import type { Clock } from '#platform/clock.js';
import { GATEWAY_CLOCK } from '../gateway.tokens.js';
import { CallerOf, RouteRules } from '../http/caller.js';
import { modelOfCaller, modelsOfCaller, noSuchModel } from '../http/model-access.js';
import { type NativeCall, nativeCallsOf } from './google-request.js';
import { listNativeModelsOperation, retrieveNativeModelOperation } from './google.openapi.js';

interface GoogleModel {
  name: string;
  displayName: string;
  supportedGenerationMethods: NativeCall[];
}

/** The models that can be called in the native style. */
@Controller('v1beta/models')
export class GoogleModelsController {
  constructor(
    @Inject(CatalogCache) private readonly catalog: CatalogCache,
    @Inject(GATEWAY_CLOCK) private readonly clock: Clock,
  ) {}

  @Get()
  @RouteRules({ doc: listNativeModelsOperation })
  async list(@CallerOf() caller: Caller): Promise<{ models: GoogleModel[] }> {
    const models = modelsOfCaller(await this.catalog.get(), caller, this.clock.nowMs());
    return { models: models.filter((model) => nativeCallsOf(model).length > 0).map(entryOf) };
  }

  @Get(':model')
  @RouteRules({ doc: retrieveNativeModelOperation })
  async retrieve(@CallerOf() caller: Caller, @Param('model') id: string): Promise<GoogleModel> {
    const nowMs = this.clock.nowMs();
    const model = modelOfCaller(await this.catalog.get(), { id, caller, nowMs });
    if (nativeCallsOf(model).length === 0) throw noSuchModel(id, caller.group);
    return entryOf(model);
  }
}

function entryOf(model: CatalogModel): GoogleModel {
  return {
    name: `models/${model.id}`,
    displayName: model.id,
    supportedGenerationMethods: nativeCallsOf(model),
  };
}
