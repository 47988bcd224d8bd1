import type { Books } from '../support/books.js';
import type { Strike } from './schedule.js';

/** The programs under attack, in either mode. */
export interface Site {
  /** The current database, since a restarted one may have moved. Its login owns the tables. */
  readonly books: Books;
  /** The upstream's address; undefined: the channels' own. */
  readonly sandboxUrl: string | undefined;
  /** What can happen at any time. */
  readonly kinds: readonly Strike['kind'][];
  /** The base URL of the next call. */
  url(): string;
  /** Strikes, and waits until the victim is back. @returns false if the point was not reached in time */
  strike(strike: Strike): Promise<boolean>;
  /** Waits until every charge and task has ended, and everything is announced and read. */
  atRest(): Promise<void>;
  /** Charges that only the repair resolved, since the current programs started. */
  repairs(): Promise<number>;
  /** The end of the programs' logs. */
  logs(): string;
  stop(): Promise<void>;
}

/** Long enough to reach most points under load. */
export const POINT_LIMIT_MS = 5_000;
