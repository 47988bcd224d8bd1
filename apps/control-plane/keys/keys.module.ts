import { Module } from '@nestjs/common';
import { provided } from '#platform/wiring.js';
import { KeyService } from '#people/keys/key.service.js';
import { SHARED } from '../control-plane.tokens.js';
import { KeyController } from './key.controller.js';

@Module({
  controllers: [KeyController],
  providers: [provided(KeyService, SHARED)],
  exports: [KeyService],
})
export class KeysModule {}
