import { Module } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { OutboxRelay } from '#bus/outbox.js';
import { provided } from '#platform/wiring.js';
import { KeyDesk } from '#people/keys/key.service.js';
import { CLOCK } from '../control-plane.tokens.js';
import { KeyController } from './key.controller.js';

/** API keys of accounts. */
@Module({
  controllers: [KeyController],
  providers: [provided(KeyDesk, { source: DataSource, relay: OutboxRelay, clock: CLOCK })],
  exports: [KeyDesk],
})
export class KeysModule {}
