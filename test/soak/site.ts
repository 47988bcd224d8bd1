import type { Books } from '../support/books.js';
import type { Kind, Strike } from './schedule.js';

/** The programs under attack, in either mode. */
export interface Site {
  /** The current database, since a restarted one may have moved. Its login owns the tables. */
  readonly books: Books;
  /** The upstream's real address. */
  readonly sandboxUrl: string;
  /** What can happen at any time in this mode. */
  readonly kinds: readonly Kind[];
  /** Faults that this mode or this machine cannot cause, and why. */
  readonly missing: ReadonlyMap<Kind, string>;
  /** The base URL of the next call. */
  url(): string;
  /**
   * Strikes, ends a fault that lasts, and waits until a killed program is back.
   * @returns the start of recovery, by performance.now(): the fault, or its end; null if the point was not reached in
   * time
   */
  strike(strike: Strike): Promise<number | null>;
  /** Waits until every charge and task has ended, and every message is sent and read. */
  atRest(): Promise<void>;
  /** The number of charges that only the repair resolved, since the current programs started. */
  repairs(): Promise<number>;
  /** The end of the programs' logs. */
  logs(): string;
}

/** Long enough to reach most points under load. */
export const POINT_LIMIT_MS = 5_000;
