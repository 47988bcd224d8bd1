import { Controller } from '@nestjs/common';
import { AccountReader } from '#people/accounts/account.reader.js';
import { searchTickets } from '#support/ticket-search.js';
import { Using } from '#platform/wiring.js';
import { POOL } from '../control-plane.tokens.js';
import { type CallOf, Serves } from '../http/route.js';
import { financeSearchRoutes as routes } from './account.routes.js';

/** A name or an address needs no more to choose from. */
const MOST_FOUND = 10;

/** What the forms of finance look up: accounts and tickets. */
@Controller()
export class FinanceSearchController extends Using({ reader: AccountReader, pool: POOL }) {
  @Serves(routes.accounts)
  accounts({ query: { query } }: CallOf<typeof routes.accounts>) {
    return this.reader.search({ query, limit: MOST_FOUND });
  }

  @Serves(routes.tickets)
  async tickets({ query: { query } }: CallOf<typeof routes.tickets>) {
    const accounts = await this.reader.search({ query, limit: MOST_FOUND });
    const accountIds = accounts.items.map(({ accountId }) => accountId);
    return { items: await searchTickets(this.pool, { words: query, accountIds }) };
  }
}
