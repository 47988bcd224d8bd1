import { Controller } from '@nestjs/common';
import type { Readable } from 'node:stream';
import { receiptPdf } from '#payments/receipts/receipt.pdf.js';
import { findReceipt } from '#payments/receipts/receipt.store.js';
import { ApiError } from '#platform/errors.js';
import { sendPdf } from '#platform/http/attachment.js';
import { Using } from '#platform/wiring.js';
import { CONTROL_PLANE_CONFIG, POOL } from '../control-plane.tokens.js';
import { type CallOf, Serves } from '../http/route.js';
import { receiptRoutes as routes } from './receipts.routes.js';

/** What proves a payment: for the account that paid, and for finance. */
@Controller()
export class ReceiptsController extends Using({ pool: POOL, config: CONTROL_PLANE_CONFIG }) {
  @Serves(routes.own)
  own(call: CallOf<typeof routes.own>): Promise<Readable> {
    return this.send(call, call.actor.accountId);
  }

  @Serves(routes.any)
  any(call: CallOf<typeof routes.any>): Promise<Readable> {
    return this.send(call, null);
  }

  private async send(
    { params, query, session, reply }: CallOf<typeof routes.own>,
    accountId: string | null,
  ): Promise<Readable> {
    const receipt = await findReceipt(this.pool, params.topupId, accountId);
    if (!receipt) throw new ApiError('not_found', 'There is no such top-up.');
    const language = query.language ?? session.language ?? 'en';
    const file = await receiptPdf(receipt, { issuer: this.config.payments.issuer, language });
    return sendPdf(reply, `receipt-${receipt.topupId}.pdf`, file);
  }
}
