import { Module } from '@nestjs/common';
import { AccountService } from '#people/accounts/account.service.js';
import { AccountReader } from '#people/accounts/account.reader.js';
import { constructed } from '#platform/wiring.js';
import { KeysModule } from '../keys/keys.module.js';
import { PeopleModule } from '../people/people.module.js';
import { POOL } from '../control-plane.tokens.js';
import { AccountLimitsController } from './account-limits.controller.js';
import { AccountController } from './account.controller.js';
import { FinanceSearchController } from './finance-search.controller.js';
import { LowBalanceController } from './low-balance.controller.js';
import { NamesController } from './names.controller.js';
import { SupportController } from './support.controller.js';
import { AccountActionsController } from './account-actions.controller.js';
import { ViewController } from './view.controller.js';

@Module({
  imports: [KeysModule, PeopleModule],
  controllers: [
    AccountController,
    SupportController,
    FinanceSearchController,
    AccountActionsController,
    LowBalanceController,
    ViewController,
    AccountLimitsController,
    NamesController,
  ],
  providers: [constructed(AccountReader, POOL), constructed(AccountService, POOL)],
})
export class AccountsModule {}
