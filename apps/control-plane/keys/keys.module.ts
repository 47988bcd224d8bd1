import { Module } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { OutboxRelay } from '#bus/outbox.js';
import { provided } from '#platform/wiring.js';
import { KeyService } from '#people/keys/key.service.js';
import { CONTROL_PLANE_CLOCK } from '../control-plane.tokens.js';
import { KeyController } from './key.controller.js';

/** API keys of accounts. */
@Module({
  controllers: [KeyController],
  providers: [provided(KeyService, { source: DataSource, relay: OutboxRelay, clock: CONTROL_PLANE_CLOCK })],
  exports: [KeyService],
})
export class KeysModule {}
