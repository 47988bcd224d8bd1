import { Module } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { OutboxRelay } from '#bus/outbox.js';
import type { Clock } from '#platform/clock.js';
import { CatalogChanges } from '#marketplace/catalog/catalog.changes.js';
import { ChannelService } from '#marketplace/catalog/channel.service.js';
import { GroupService } from '#marketplace/catalog/group.service.js';
import { ModelService } from '#marketplace/catalog/model.service.js';
import type { ControlPlaneConfig } from '../control-plane.config.js';
import { CLOCK, CONFIG } from '../control-plane.tokens.js';
import { MarketModule } from '../market/market.module.js';
import { CatalogController } from './catalog.controller.js';
import { ChannelsController } from './channels.controller.js';

/** The catalog for administrators. */
@Module({
  imports: [MarketModule],
  controllers: [CatalogController, ChannelsController],
  providers: [
    {
      provide: CatalogChanges,
      inject: [DataSource, OutboxRelay],
      useFactory: (source: DataSource, relay: OutboxRelay) => new CatalogChanges(source, relay),
    },
    {
      provide: ModelService,
      inject: [DataSource, CatalogChanges],
      useFactory: (source: DataSource, changes: CatalogChanges) => new ModelService(source, changes),
    },
    {
      provide: GroupService,
      inject: [DataSource, CatalogChanges, CLOCK],
      useFactory: (source: DataSource, changes: CatalogChanges, clock: Clock) =>
        new GroupService(source, changes, clock),
    },
    {
      provide: ChannelService,
      inject: [DataSource, CatalogChanges, CONFIG],
      useFactory: (source: DataSource, changes: CatalogChanges, { secrets }: ControlPlaneConfig) =>
        new ChannelService(source, changes, secrets),
    },
  ],
})
export class CatalogModule {}
