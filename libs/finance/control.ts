import type pg from 'pg';
import type { Horizon } from '#ledger/postings/horizon.js';
import type { FoundState } from './found-states.js';

/**
 * A control compares two sides of the books that must agree, item by item. Its count should be 0: a person must look at each
 * item that it names.
 */
export interface Control {
  /** Stable and in kebab-case, such as `payments`. Findings, metrics and URLs use it. */
  readonly id: string;
  readonly title: string;
  /** What is compared, and what to do about an item, in one or two sentences. */
  readonly explanation: string;
  /** The states that its findings can have. The console has a sentence for each. */
  readonly states: readonly FoundState[];
  /**
   * How often the schedule runs it: in every round (default), or once a day if it reads the whole ledger. It also runs on
   * request and when a period closes.
   */
  readonly every?: 'round' | 'day';
  /**
   * Whether it can look at recent items only. The schedule then looks at everything once a day, and at recent items in between.
   * Default: it always looks at everything.
   */
  readonly window?: boolean;
  /** Only reads, on the given snapshot. */
  check(client: pg.ClientBase, context: ControlContext): Promise<ControlResult>;
}

export interface ControlContext {
  /** The time up to which the snapshot is final. */
  readonly horizon: Horizon;
  /** Work younger than this may still be in progress. */
  readonly graceMs: number;
  /**
   * Reports of providers and banks are due this long after the end of the last one, if something has happened since. Default:
   * three days.
   */
  readonly reportOverdueMs?: number;
  /**
   * Considers only what happened before this time, as for the close of a period. Null: everything in the snapshot. ISO 8601.
   */
  readonly before: string | null;
  /** The maximum number of items to name. */
  readonly limit: number;
  /**
   * `recent`: what happened before `since` can be skipped. Only the schedule asks for this, and only controls with a window.
   * Default: `whole`.
   */
  readonly scope?: ControlScope;
  /** With `recent`: look at everything that happened from then on. ISO 8601. Null with `whole`. */
  readonly since?: string | null;
}

export const REPORT_OVERDUE_MS = 72 * 3_600_000;

type ControlScope = 'recent' | 'whole';

export interface ControlResult {
  /** The number of all items, including those beyond the limit. */
  readonly count: number;
  /** The same by state, for controls with several states. Omitted if not needed. */
  readonly states?: Readonly<Record<string, number>>;
  readonly items: readonly ControlItem[];
  /** Subjects of open findings that were not checked this time, for controls that check in turns. They stay open. */
  readonly passedOver?: readonly string[];
}

export interface ControlItem {
  /** `kind:{id}`, such as `payment:stripe:pi_1`. Stable across runs. */
  readonly subject: string;
  /** Says what is wrong, with the details as its parameters. */
  readonly state: FoundState;
  /** The same as an English sentence, for the command line and downloads. */
  readonly message: string;
  /** Details for the reader: amounts as decimal strings with their unit, IDs, times. */
  readonly details: Readonly<Record<string, string | null>>;
  readonly transactionIds: readonly bigint[];
  /**
   * The time by which `recent` includes or skips it, as PostgreSQL text. A finding without one is resolved only by a check of
   * everything.
   */
  readonly at?: string | null;
}
