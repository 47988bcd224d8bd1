import { Controller } from '@nestjs/common';
import { pageFrom, readCursorId } from '#platform/http/page.js';
import { ApprovalService } from '#approvals/approval.service.js';
import { viewApproval } from '#approvals/approvals.view.js';
import { Using } from '#platform/wiring.js';
import { type CallOf, Serves } from '../http/route.js';
import { approvalRoutes } from './approvals.routes.js';

@Controller()
export class ApprovalsController extends Using({ service: ApprovalService }) {
  @Serves(approvalRoutes.list)
  async list({ actor, query }: CallOf<typeof approvalRoutes.list>) {
    const { limit, state, cursor } = query;
    const beforeId = readCursorId(cursor);
    const page = pageFrom(await this.service.list({ actor, state, limit, beforeId }), limit, ({ id }) => [
      id,
    ]);
    return { ...page, items: page.items.map(viewApproval) };
  }

  @Serves(approvalRoutes.show)
  async show({ actor, params }: CallOf<typeof approvalRoutes.show>) {
    return viewApproval(await this.service.show(params.approvalId, actor));
  }

  @Serves(approvalRoutes.approve)
  async approve(call: CallOf<typeof approvalRoutes.approve>) {
    const { actor, params, body, requestId } = call;
    const { approvalId } = params;
    return viewApproval(
      await this.service.approve({ approvalId, actor, note: body.note ?? null, requestId }),
    );
  }

  @Serves(approvalRoutes.reject)
  async reject({ actor, params, body, requestId }: CallOf<typeof approvalRoutes.reject>) {
    const { approvalId } = params;
    return viewApproval(await this.service.reject({ approvalId, actor, note: body.note, requestId }));
  }
}
