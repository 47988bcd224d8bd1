import { Controller } from '@nestjs/common';
import { listBlocks } from '#ledger/chain/chain.js';
import { signaturesOf } from '#ledger/chain/chain-signature.js';
import { pageFrom, readCursorNumber } from '#platform/http/page.js';
import { Using } from '#platform/wiring.js';
import { POOL } from '../control-plane.tokens.js';
import { type CallOf, Serves } from '../http/route.js';
import { chainRoutes as routes } from './chain.routes.js';

/** The hash chain, for anyone who wants to keep its head elsewhere. */
@Controller()
export class ChainController extends Using({ pool: POOL }) {
  @Serves(routes.blocks)
  async blocks({ query }: CallOf<typeof routes.blocks>) {
    const { limit, cursor } = query;
    const blocks = await listBlocks(this.pool, { before: readCursorNumber(cursor), limit: limit + 1 });
    const signatures = await signaturesOf(
      this.pool,
      blocks.map(({ number }) => number),
    );
    const signed = blocks.map((block) => ({ ...block, signature: signatures.get(block.number) ?? null }));
    return pageFrom(signed, limit, ({ number }) => [number.toString()]);
  }
}
