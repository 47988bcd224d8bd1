import { Controller, Get, Inject, Param } from '@nestjs/common';
import { CatalogCache } from '#catalog/catalog.cache.js';
import { type CatalogModel, modelsOfGroup } from '#catalog/catalog.js';
import type { Caller } from '#identity/key-authenticator.js';
import { CallerOf } from '../http/caller.js';
import { modelForGroup } from '../http/model-access.js';

/** An element of the model list (spec 2.1), with nothing more to it. */
interface ModelEntry {
  id: string;
  object: 'model';
  created: number;
  owned_by: string;
}

@Controller('v1/models')
export class ModelsController {
  constructor(@Inject(CatalogCache) private readonly catalog: CatalogCache) {}

  @Get()
  async list(@CallerOf() caller: Caller): Promise<{ object: 'list'; data: ModelEntry[] }> {
    const catalog = await this.catalog.get();
    return { object: 'list', data: modelsOfGroup(catalog, caller.group).map(entryOf) };
  }

  @Get(':id')
  async retrieve(@CallerOf() caller: Caller, @Param('id') id: string): Promise<ModelEntry> {
    return entryOf(modelForGroup(await this.catalog.get(), id, caller.group));
  }
}

function entryOf(model: CatalogModel): ModelEntry {
  return { id: model.id, object: 'model', created: model.created, owned_by: model.ownedBy };
}
