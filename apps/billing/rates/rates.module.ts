import { Global, Module } from '@nestjs/common';
import { AccountRates } from './account-rates.js';
import { RatesController } from './rates.controller.js';

/** What an account pays for a unit of balance: dated versions of 1.3 or, for verified resellers, 1.2. */
@Global()
@Module({ controllers: [RatesController], providers: [AccountRates], exports: [AccountRates] })
export class RatesModule {}
