import type pg from 'pg';
import type { DataSource } from 'typeorm';
import type { z } from 'zod';
import type { OutboxRelay } from '#bus/outbox.js';
import { inEntityTransaction } from '#database/entity-transaction.js';
import { lockOutflows, type Outflow, takeOutflow } from '#ledger/postings/outflow.js';
import type { TopupResult } from '#ledger/postings/topup.js';
import type { Nanos } from '#money/amount.js';
import type { ApprovalService, Done } from '#approvals/approval.service.js';
import {
  type FinanceRequest,
  type FinanceAuthor,
  requestAuthor,
  requireSeen,
  approvedAuthor,
  type HouseConfig,
  viewTopup,
} from './finance-credit.js';

export interface LimitedCreditParts {
  readonly source: DataSource;
  readonly config: HouseConfig;
  readonly approvals: ApprovalService;
  readonly relay: Pick<OutboxRelay, 'wake'>;
}

/** A way in which finance staff credit an account. */
export interface CreditKind<P> {
  readonly kind: 'topup.manual' | 'suspense.credit';
  readonly payload: z.ZodType<P>;
  /** `kind:{id}` of what is credited. */
  readonly subjectOf: (payload: P) => string;
  /** Credits once. Repeating it returns the earlier result. */
  readonly credit: (client: pg.ClientBase, payload: P, by: FinanceAuthor) => Promise<TopupResult>;
}

/** The credit as planned under the locks. */
export interface PlannedCredit<P> {
  payload: P;
  credits: Nanos;
  reason: string;
  /** It was already credited, so nothing is paid out now. */
  isRepeated: boolean;
}

/** Manual credits: by one person up to a daily limit, and above it after a second person approves. */
export class LimitedCredit<P extends { accountId: string }> {
  constructor(
    private readonly parts: LimitedCreditParts,
    private readonly of: CreditKind<P>,
  ) {
    const { kind, payload } = of;
    parts.approvals.register({
      kind,
      roles: ['finance'],
      payload,
      apply: async (client, asked, context) => {
        const by = approvedAuthor(context);
        const result = await of.credit(client, asked, by);
        if (result.created) {
          // The account's rate may have changed.
          requireSeen(result.credits, context.amount);
          await this.take(client, { payload: asked, credits: result.credits }, by);
        }
        return viewTopup(result);
      },
      applied: () => parts.relay.wake(),
    });
  }

  /** Credits what `plan` finds, or requests the approval of a second person. */
  async creditOrAsk(
    plan: (client: pg.ClientBase) => Promise<PlannedCredit<P>>,
    asking: FinanceRequest,
  ): Promise<Done<TopupResult>> {
    const { kind, credit, subjectOf } = this.of;
    const result = await inEntityTransaction(this.parts.source, async (transaction) => {
      const { client } = transaction;
      const { actor, requestId } = asking;
      const by = requestAuthor(asking);
      await lockOutflows(client, by.actor);
      const planned = await plan(client);
      const isAlone = planned.isRepeated || (await this.take(client, planned, by));
      const { payload, credits: amount, reason } = planned;
      const { accountId } = payload;
      const subject = subjectOf(payload);
      const asked = { actor, requestId, kind, subject, accountId, payload, amount, reason };
      const apply = () => credit(client, payload, by);
      return this.parts.approvals.doOrAsk(transaction, asked, isAlone ? apply : null);
    });
    this.parts.relay.wake();
    return result;
  }

  /** @returns whether it may be credited: by one person, or because a second one approved */
  private async take(
    client: pg.ClientBase,
    { payload, credits: amount }: Pick<PlannedCredit<P>, 'payload' | 'credits'>,
    { actor, approvedBy }: FinanceAuthor,
  ): Promise<boolean> {
    const { kind, subjectOf } = this.of;
    const { accountId } = payload;
    const outflow: Outflow = { kind, actor, approvedBy, amount, reference: subjectOf(payload), accountId };
    return (await takeOutflow(client, outflow)).taken;
  }
}
