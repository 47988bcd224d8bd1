import type pg from 'pg';
import type { Horizon } from '#ledger/postings/horizon.js';

/**
 * A control compares two sides of the books that must agree, item by item. What it counts should be 0: each item that it
 * names is something that a person must look at.
 */
export interface Control {
  /** Stable, in kebab-case, such as `payments`: findings, metrics and addresses name it so. */
  readonly id: string;
  readonly title: string;
  /** What is compared, and what to do about an item. One or two sentences. */
  readonly explanation: string;
  /**
   * How often the schedule runs it: in every round, which is so when left out, or once a day, for what reads the whole
   * ledger. A person who asks for it, and the close of a period, run it in any case.
   */
  readonly every?: 'round' | 'day';
  /**
   * It can look at recent things alone, which the schedule asks of it between two looks at everything, of which there is one
   * a day. Left out: it always looks at everything.
   */
  readonly window?: boolean;
  /** Reads only, on the snapshot that it is given. */
  check(client: pg.ClientBase, context: ControlContext): Promise<ControlResult>;
}

export interface ControlContext {
  /** Up to where the snapshot is certain. */
  readonly horizon: Horizon;
  /** Work younger than this may be in flight still. */
  readonly graceMs: number;
  /** Reports of providers and banks are due this long after the last one ended, where something happened since. Left out: three days. */
  readonly reportOverdueMs?: number;
  /** Only what concerns the time before counts, as for the close of a period; null: all that the snapshot sees. ISO 8601. */
  readonly before: string | null;
  /** Items to name at most. */
  readonly limit: number;
  /**
   * `recent`: what happened before `since` may be left out. Only controls with a window are asked so; a caller who asks for a
   * control, or closes a period, asks for the whole. Left out: `whole`.
   */
  readonly scope?: ControlScope;
  /** With `recent`: everything that happened from then on is to be looked at. ISO 8601; null with `whole`. */
  readonly since?: string | null;
}

/** The default of `reportOverdueMs`. */
export const REPORT_OVERDUE_MS = 72 * 3_600_000;

type ControlScope = 'recent' | 'whole';

export interface ControlResult {
  /** All of them, also those beyond the limit. */
  readonly count: number;
  /** The same by state, of controls that have several; left out where nobody asks. */
  readonly states?: Readonly<Record<string, number>>;
  readonly items: readonly ControlItem[];
  /** Subjects of open findings that it did not look at this time, of those that it looks at in turns: they stay open. */
  readonly passedOver?: readonly string[];
}

export interface ControlItem {
  /** `kind:{id}`, such as `payment:stripe:pi_1`: the same for the same thing in every run. */
  readonly subject: string;
  /** In snake_case, such as `missing_here`, `missing_there`, `differs`, `twice`. */
  readonly state: string;
  /** A sentence for people: what is wrong with it. */
  readonly message: string;
  /** Amounts as decimal strings with their unit, ids, times: whatever helps to look at it. */
  readonly details: Readonly<Record<string, string | null>>;
  /** Ledger transactions to look at. */
  readonly transactionIds: readonly bigint[];
  /**
   * By which time `recent` finds it or leaves it out, as PostgreSQL reads it. A finding without it is resolved only by a look
   * at everything.
   */
  readonly at?: string | null;
}
