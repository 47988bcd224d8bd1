import { Controller } from '@nestjs/common';
import { FinanceReader } from '#payments/finance.reader.js';
import { SuspenseService } from '#payments/suspense.service.js';
import { Using } from '#platform/wiring.js';
import { type CallOf, Serves } from '../http/route.js';
import { financeRoutes } from './finance.routes.js';
import { asking, askingOnce, filter, viewCredited } from './finance.calls.js';

/** Money that belongs to no order. */
@Controller()
export class SuspenseController extends Using({ suspenseItems: SuspenseService, reader: FinanceReader }) {
  @Serves(financeRoutes.suspense)
  async suspense({ query }: CallOf<typeof financeRoutes.suspense>) {
    return this.reader.suspense({ ...query, where: filter({ state: query.state }) });
  }

  @Serves(financeRoutes.creditSuspense)
  async creditSuspense(call: CallOf<typeof financeRoutes.creditSuspense>) {
    const { itemId } = call.params;
    const { accountId, note } = call.body;
    return viewCredited(await this.suspenseItems.creditSuspense({ itemId, accountId, note }, asking(call)));
  }

  @Serves(financeRoutes.returnSuspense)
  async returnSuspense(call: CallOf<typeof financeRoutes.returnSuspense>): Promise<void> {
    await this.suspenseItems.returnSuspense(call.params.itemId, call.body.note, askingOnce(call));
  }

  @Serves(financeRoutes.expenseSuspense)
  async expenseSuspense(call: CallOf<typeof financeRoutes.expenseSuspense>): Promise<void> {
    await this.suspenseItems.expenseSuspense(call.params.itemId, call.body.note, askingOnce(call));
  }
}
