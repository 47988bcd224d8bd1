import { Controller } from '@nestjs/common';
import { readTransaction } from '#finance/transaction.js';
import { inSnapshot } from '#finance/snapshot.js';
import { ApiError } from '#platform/errors.js';
import { transactionView } from '#finance/views/transaction.view.js';
import { Using } from '#platform/wiring.js';
import { CONTROL_PLANE_CONFIG, POOL } from '../control-plane.tokens.js';
import { type CallOf, Serves } from '../http/route.js';
import { transactionRoutes as routes } from './transaction.routes.js';

/** One transaction. Every report and control links to it. */
@Controller()
export class TransactionController extends Using({ pool: POOL, config: CONTROL_PLANE_CONFIG }) {
  @Serves(routes.show)
  async show({ params }: CallOf<typeof routes.show>) {
    const id = BigInt(params.transactionId);
    const found = await inSnapshot(this.pool, (client) => readTransaction(client, id));
    if (!found) throw new ApiError('not_found', 'There is no such transaction.');
    return transactionView(found, this.config.payments.currency);
  }
}
