import { Controller, Inject } from '@nestjs/common';
import { viewPayment } from '#payments/payment.fields.js';
import { FinanceReader } from '#payments/finance.reader.js';
import { SuspenseService } from '#payments/suspense.service.js';
import { type CallOf, Serves } from '../http/route.js';
import { financeRoutes } from './finance.routes.js';
import { asking, filter, viewCredited } from './finance.calls.js';

/** Money that belongs to no order. */
@Controller()
export class SuspenseController {
  constructor(
    @Inject(SuspenseService) private readonly suspenseItems: SuspenseService,
    @Inject(FinanceReader) private readonly reader: FinanceReader,
  ) {}

  @Serves(financeRoutes.suspense)
  async suspense({ query }: CallOf<typeof financeRoutes.suspense>) {
    const page = await this.reader.suspense({ ...query, where: filter({ state: query.state }) });
    const items = page.items.map(({ amountMinor, clearedAt, createdAt, ...row }) => ({
      ...row,
      amount: viewPayment(amountMinor),
      clearedAt: clearedAt?.toISOString() ?? null,
      createdAt: createdAt.toISOString(),
    }));
    return { ...page, items };
  }

  @Serves(financeRoutes.creditSuspense)
  async creditSuspense(call: CallOf<typeof financeRoutes.creditSuspense>) {
    const { itemId } = call.params;
    const { accountId, note } = call.body;
    return viewCredited(await this.suspenseItems.creditSuspense({ itemId, accountId, note }, asking(call)));
  }

  @Serves(financeRoutes.returnSuspense)
  async returnSuspense(call: CallOf<typeof financeRoutes.returnSuspense>): Promise<void> {
    const { params, body, actor, requestId: auditId } = call;
    await this.suspenseItems.returnSuspense(params.itemId, body.note, { actor, auditId, requestId: auditId });
  }

  @Serves(financeRoutes.expenseSuspense)
  async expenseSuspense(call: CallOf<typeof financeRoutes.expenseSuspense>): Promise<void> {
    const { params, body, actor, requestId: auditId } = call;
    await this.suspenseItems.expenseSuspense(params.itemId, body.note, {
      actor,
      auditId,
      requestId: auditId,
    });
  }
}
