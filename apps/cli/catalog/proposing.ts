import { InvalidArgumentError } from 'commander';
import type pg from 'pg';
import { readMarketConfig } from '#marketplace/market.config.js';
import { type DoneBy, ProposalService } from '#marketplace/prices/proposal.service.js';
import { ConfigReader } from '#platform/config.js';
import { type Acting, actingPerson } from '../acting.js';
import { operatorName } from '../operator-name.js';

/** What commands that propose prices have in common. */

export const DRY_RUN_OPTION = ['--dry-run', 'show the changes without making them'] as const;
export const NOTE_OPTION = ['--note <text>', 'why, for those who confirm'] as const;
export const EFFECTIVE_OPTION = [
  '--effective-at <time>',
  'when it takes effect, such as 2027-01-31T00:00:00Z; else when it is confirmed',
] as const;

export interface Timing extends Acting {
  effectiveAt?: Date;
  note?: string;
  dryRun?: boolean;
  json?: boolean;
}

export function proposalTime(text: string): Date {
  const time = new Date(text);
  if (/^\d{4}-\d{2}-\d{2}T.*(Z|[+-]\d{2}:\d{2})$/.test(text) && !Number.isNaN(time.getTime())) return time;
  throw new InvalidArgumentError('Give a time with its zone, such as 2027-01-31T00:00:00Z.');
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
