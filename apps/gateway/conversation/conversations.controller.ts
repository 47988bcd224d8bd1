import { Body, Controller, HttpCode, Inject, Post } from '@nestjs/common';
import { CatalogCache } from '#catalog/catalog.cache.js';
import type { Caller } from '#identity/key-authenticator.js';
import { asBody, requiredText } from '../http/fields.js';
import { CallerOf, RouteRules } from '../http/caller.js';
import { CHAT_BODY_BYTES, MAX_MODEL_CHARS } from '../http/limits.js';
import { modelForGroup, notSupportedHere } from '../http/model-access.js';

/**
 * The conversation paths, so far without a model of their own: each model of the catalog is told where it belongs. A
 * video model is refused whatever the key's group, and before any stream is opened (spec 4.3 rule 2).
 */
@Controller()
export class ConversationsController {
  constructor(@Inject(CatalogCache) private readonly catalog: CatalogCache) {}

  @Post(['v1/chat/completions', 'v1/responses', 'v1/messages'])
  @HttpCode(200)
  @RouteRules({ bodyLimit: CHAT_BODY_BYTES })
  async converse(@CallerOf() caller: Caller, @Body() body: unknown): Promise<never> {
    const id = requiredText(asBody(body), 'model', MAX_MODEL_CHARS);
    const catalog = await this.catalog.get();
    const named = catalog.models.get(id);
    const model = named?.family === 'video' ? named : modelForGroup(catalog, id, caller.group);
    throw notSupportedHere(model);
  }
}
