import { Module } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { OutboxRelay } from '#bus/outbox.js';
import { CatalogChanges } from '#marketplace/catalog/catalog.changes.js';
import { ChannelRoutes } from '#marketplace/catalog/channel-routes.js';
import { ChannelService } from '#marketplace/catalog/channel.service.js';
import { ApprovalService } from '#approvals/approval.service.js';
import { GroupModels } from '#marketplace/catalog/group-models.js';
import { GroupOpening } from '#marketplace/catalog/group-opening.js';
import { GroupService } from '#marketplace/catalog/group.service.js';
import { ModelService } from '#marketplace/catalog/model.service.js';
import { ModelRoutes } from '#operations/model-route.js';
import { ProgramReader } from '#operations/program.reader.js';
import { POOL, SHARED } from '../control-plane.tokens.js';
import { MarketModule } from '../market/market.module.js';
import { ProgramsModule } from '../programs/programs.module.js';
import { CatalogController } from './catalog.controller.js';
import { ChannelsController } from './channels.controller.js';
import { constructed, provided, providedBy } from '#platform/wiring.js';

@Module({
  imports: [MarketModule, ProgramsModule],
  exports: [ModelService],
  controllers: [CatalogController, ChannelsController],
  providers: [
    constructed(CatalogChanges, DataSource, OutboxRelay),
    constructed(ModelService, DataSource, CatalogChanges, GroupModels),
    constructed(ModelRoutes, POOL, ProgramReader),
    constructed(GroupModels, CatalogChanges, ApprovalService),
    constructed(GroupOpening, CatalogChanges, ApprovalService),
    constructed(ChannelRoutes, CatalogChanges, ApprovalService),
    provided(GroupService, {
      ...SHARED,
      changes: CatalogChanges,
      opening: GroupOpening,
      models: GroupModels,
    }),
    providedBy(
      ChannelService,
      ({ config: { secrets }, ...parts }) => new ChannelService({ ...parts, secrets }),
      { ...SHARED, changes: CatalogChanges, routes: ChannelRoutes },
    ),
  ],
})
export class CatalogModule {}
