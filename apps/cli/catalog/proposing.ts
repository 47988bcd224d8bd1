import type { Command } from 'commander';
import type pg from 'pg';
import { readMarketConfig } from '#marketplace/market.config.js';
import { type DoneBy, ProposalService } from '#marketplace/prices/proposal.service.js';
import { ConfigReader } from '#platform/config.js';
import { AS_OPTION, type Acting, actingPerson } from '../acting.js';
import { zonedTimeArgument } from '../arguments.js';
import { operatorName } from '../operator-name.js';

/** What commands that propose prices have in common. */

/** The last options of a command. */
export function proposing(command: Command): Command {
  return command
    .option(
      '--effective-at <time>',
      'when it takes effect, such as 2027-01-31T00:00:00Z; else when it is confirmed',
      zonedTimeArgument,
    )
    .option('--note <text>', 'why, for those who confirm')
    .option(...AS_OPTION)
    .option('--dry-run', 'show the changes without making them');
}

export interface Timing extends Acting {
  effectiveAt?: Date;
  note?: string;
  dryRun?: boolean;
  json?: boolean;
}

export function proposalsOf(pool: pg.Pool): ProposalService {
  const { proposalLifeMs } = readMarketConfig(new ConfigReader(process.env));
  return new ProposalService({ pool, lifeMs: proposalLifeMs });
}

/** The administrator who acts. */
export async function by(pool: pg.Pool, acting: Acting): Promise<DoneBy> {
  const { userId } = await actingPerson(pool, acting, ['admin']);
  return { actor: `user:${userId}`, requestId: operatorName() };
}

/** A dry run needs nobody. */
export function byUnless(dryRun: boolean, pool: pg.Pool, acting: Acting): Promise<DoneBy> {
  return dryRun ? Promise.resolve({ actor: operatorName(), requestId: null }) : by(pool, acting);
}
