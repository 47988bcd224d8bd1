import { Controller, Inject } from '@nestjs/common';
import type { z } from 'zod';
import { viewAmount } from '../http/fields.js';
import { pageFrom, readCursor } from '../http/page.js';
import { type AnswerOf, type CallOf, Serves } from '../http/route.js';
import { ApprovalDesk } from './approval.desk.js';
import type { Approval } from './approval.entity.js';
import { approvalRoutes, type approvalView } from './approvals.routes.js';

@Controller()
export class ApprovalsController {
  constructor(@Inject(ApprovalDesk) private readonly desk: ApprovalDesk) {}

  @Serves(approvalRoutes.list)
  async list({
    actor,
    query,
  }: CallOf<typeof approvalRoutes.list>): Promise<AnswerOf<typeof approvalRoutes.list>> {
    const { limit, state, cursor } = query;
    const [beforeId = null] = readCursor(cursor, 1) ?? [];
    const page = pageFrom(await this.desk.list({ actor, state, limit, beforeId }), limit, ({ id }) => [id]);
    return { ...page, items: page.items.map(view) };
  }

  @Serves(approvalRoutes.show)
  async show({ actor, params }: CallOf<typeof approvalRoutes.show>): Promise<View> {
    return view(await this.desk.show(params.approvalId, actor));
  }

  @Serves(approvalRoutes.approve)
  async approve(call: CallOf<typeof approvalRoutes.approve>): Promise<View> {
    const { actor, params, body, requestId } = call;
    const { approvalId } = params;
    return view(await this.desk.approve({ approvalId, actor, note: body.note ?? null, requestId }));
  }

  @Serves(approvalRoutes.reject)
  async reject({ actor, params, body, requestId }: CallOf<typeof approvalRoutes.reject>): Promise<View> {
    const { approvalId } = params;
    return view(await this.desk.reject({ approvalId, actor, note: body.note, requestId }));
  }
}

type View = z.input<typeof approvalView>;

function view({ payload, amount, createdAt, decidedAt, ...approval }: Approval): View {
  const { id, kind, subject, accountId, reason, state, requestedBy, decidedBy, decisionNote, outcome } =
    approval;
  return {
    ...{ id, kind, subject, accountId, reason, state, requestedBy, decidedBy, decisionNote, outcome },
    details: payload,
    amount: amount === null ? null : viewAmount(amount),
    createdAt: createdAt.toISOString(),
    decidedAt: decidedAt?.toISOString() ?? null,
  };
}
