import type { Books } from '../support/books.js';
import type { Strike } from './schedule.js';

/** The programs that a soak hurts, whichever way they run. */
export interface Site {
  /** Of the present: a database that starts again may be elsewhere. Its login owns the tables. */
  readonly books: Books;
  /** Where the upstream is; undefined: where the channels lead. */
  readonly sandboxUrl: string | undefined;
  /** What can be killed as such. */
  readonly kinds: readonly Strike['kind'][];
  /** Where the next call goes. */
  url(): string;
  /** Does it, and waits until what was killed is there again. @returns false where the point was not reached in time */
  strike(strike: Strike): Promise<boolean>;
  /** Waits until every charge and task has ended and everything was announced and read. */
  atRest(): Promise<void>;
  /** Charges that only the repair resolved, since the programs of now were started. */
  repairs(): Promise<number>;
  /** The last of what the programs wrote. */
  logs(): string;
  stop(): Promise<void>;
}

/** Long enough for most points to be passed by under load. */
export const POINT_LIMIT_MS = 5_000;
