import { Controller } from '@nestjs/common';
import { FinanceReader } from '#payments/finance.reader.js';
import { SuspenseService } from '#payments/suspense/suspense.service.js';
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
  async returnSuspense(call: CallOf<typeof financeRoutes.returnSuspense>) {
    const { itemId } = call.params;
    const { approvalId } = await this.suspenseItems.returnSuspense(itemId, call.body.note, askingOnce(call));
    return { approvalId };
  }

  @Serves(financeRoutes.expenseSuspense)
  async expenseSuspense(call: CallOf<typeof financeRoutes.expenseSuspense>) {
    const { itemId } = call.params;
    const { approvalId } = await this.suspenseItems.expenseSuspense(itemId, call.body.note, askingOnce(call));
    return { approvalId };
  }
}
