import { Global, Module } from '@nestjs/common';
import { AccountRates } from '#topup/account-rates.js';
import { provided } from '#platform/wiring.js';
import { SHARED } from '../control-plane.tokens.js';
import { RatesController } from './rates.controller.js';

/** What an account pays for a credit: dated versions of 1.3 or, for verified resellers, 1.2. */
@Global()
@Module({
  controllers: [RatesController],
  providers: [provided(AccountRates, SHARED)],
  exports: [AccountRates],
})
export class RatesModule {}
