import { Controller } from '@nestjs/common';
import { Handles } from '#bus/handles.decorator.js';
import { CatalogChanged, KeyChanged } from '#bus/payloads.js';
import { topics } from '#bus/topics.js';
import { CatalogCache } from '#catalog/catalog.cache.js';
import { KeyAuthenticator } from '#identity/key-authenticator.js';
import { Using } from '#platform/wiring.js';

/** The events carry no state: a program that receives one drops its cache, and reloads when needed. */
@Controller()
export class CacheEventsController extends Using({ catalog: CatalogCache, keys: KeyAuthenticator }) {
  @Handles(topics.catalogChanged)
  async catalogChanged(_event: CatalogChanged): Promise<void> {
    this.catalog.drop();
  }

  @Handles(topics.keyChanged)
  async keyChanged(event: KeyChanged): Promise<void> {
    this.keys.drop(event.keyId);
  }

  /** Broadcasts may have been missed until the bus delivers them (again). */
  dropAll(): void {
    this.catalog.drop();
    this.keys.drop();
  }
}
