import { Controller, Get, Param, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { CatalogCache } from '#catalog/catalog.cache.js';
import type { CatalogModel } from '#catalog/catalog.js';
import type { Caller } from '#identity/key-authenticator.js';
import { Using } from '#platform/wiring.js';
import { CallerOf, RouteRules } from '../http/caller.js';
import { modelOfCaller, modelsOfCaller } from '../http/model-access.js';
import { familyOf } from '../http/protocol-family.js';
import { listModelsOperation, retrieveModelOperation } from './models.openapi.js';

/** An element of the model list, with nothing more to it. */
interface ModelEntry {
  id: string;
  object: 'model';
  created: number;
  owned_by: string;
}

/** The same for Anthropic's clients. */
interface AnthropicEntry {
  type: 'model';
  id: string;
  display_name: string;
  created_at: string;
}

interface ModelList {
  object: 'list';
  data: ModelEntry[];
}

/** All models at once: there is no further page. */
interface AnthropicList {
  data: AnthropicEntry[];
  has_more: false;
  first_id: string | null;
  last_id: string | null;
}

@Controller('v1/models')
export class ModelsController extends Using({ catalog: CatalogCache }) {
  @Get()
  @RouteRules({ doc: listModelsOperation })
  async list(@CallerOf() caller: Caller, @Req() request: FastifyRequest): Promise<ModelList | AnthropicList> {
    const models = modelsOfCaller(await this.catalog.get(), caller, this.catalog.nowMs());
    return familyOf(request) === 'anthropic'
      ? anthropicList(models)
      : { object: 'list', data: models.map(entryOf) };
  }

  @Get(':id')
  @RouteRules({ doc: retrieveModelOperation })
  async retrieve(
    @CallerOf() caller: Caller,
    @Param('id') id: string,
    @Req() request: FastifyRequest,
  ): Promise<ModelEntry | AnthropicEntry> {
    const catalog = await this.catalog.get();
    const model = modelOfCaller(catalog, { id, caller, nowMs: this.catalog.nowMs() });
    return familyOf(request) === 'anthropic' ? anthropicEntryOf(model) : entryOf(model);
  }
}

function entryOf(model: CatalogModel): ModelEntry {
  return { id: model.id, object: 'model', created: model.created, owned_by: model.ownedBy };
}

function anthropicEntryOf({ id, created }: CatalogModel): AnthropicEntry {
  return { type: 'model', id, display_name: id, created_at: new Date(created * 1000).toISOString() };
}

function anthropicList(models: readonly CatalogModel[]): AnthropicList {
  const data = models.map(anthropicEntryOf);
  return { data, has_more: false, first_id: data[0]?.id ?? null, last_id: data.at(-1)?.id ?? null };
}
