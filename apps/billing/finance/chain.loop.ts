import {
  type BeforeApplicationShutdown,
  Inject,
  Injectable,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import type pg from 'pg';
import { OutboxRelay } from '#bus/outbox.js';
import { ChainBuilder } from '#ledger/chain/chain.js';
import { HeadSigner } from '#ledger/chain/chain-signature.js';
import type { Logger } from '#platform/logging.js';
import { Loop } from '#platform/loop.js';
import type { BillingConfig } from '../billing.config.js';
import { CONFIG, LOG, POOL } from '../billing.tokens.js';

/** Seals what was posted into the hash chain, behind the postings. */
@Injectable()
export class ChainLoop implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly loop: Loop;

  constructor(
    @Inject(POOL) pool: pg.Pool,
    @Inject(OutboxRelay) relay: OutboxRelay,
    @Inject(CONFIG) config: BillingConfig,
    @Inject(LOG) log: Logger,
  ) {
    const builder = new ChainBuilder({ pool, log });
    const signer = config.chainSigningKey && new HeadSigner(config.chainSigningKey);
    if (!signer) log.warn('CHAIN_SIGNING_KEY is not set: the heads of the ledger chain are not signed');
    this.loop = new Loop({
      name: 'ledger-chain',
      intervalMs: config.chainSealIntervalMs,
      log,
      round: async (signal) => {
        const blocks = await builder.seal(signal);
        // A head that an earlier round or the close of a period left is signed as well.
        const isSigned = (await signer?.sign(pool)) ?? false;
        if (blocks.length > 0 || isSigned) relay.wake();
      },
    });
  }

  onApplicationBootstrap(): void {
    this.loop.start();
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.loop.stop();
  }
}
