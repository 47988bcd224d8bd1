import type { Report } from '#ledger/postings/horizon.js';

export interface ChecklistOptions {
  /** The end of the period. */
  readonly end: Date;
  /** Work younger than this may be in flight still. */
  readonly graceMs: number;
  /** Each question is given up after this. */
  readonly limitMs: number;
  /** Nothing was brought up to the end before: what the close does first is no finding. */
  readonly isRehearsal?: boolean | undefined;
  /** Called before each question. */
  readonly onProgress?: ((words: string) => void | Promise<void>) | undefined;
  readonly signal?: AbortSignal | undefined;
}

export type Snapshot = Pick<Report, 'client' | 'horizon'>;

export interface ChecklistAnswer {
  count: number;
  message: string;
  /** What is found, one by one, as `state subject`; null where more is found than is read. */
  findings?: readonly string[] | null;
}

export interface ChecklistSubject {
  id: string;
  title: string;
  /** Books that do not add up cannot be closed by saying why; what waits for people can. */
  waivable: boolean;
  /** A close does it before it asks. */
  isCaughtUp?: true;
  control?: string;
}

/** What is asked once may answer several items of the checklist: one answer each. */
export interface Question {
  items: readonly ChecklistSubject[];
  ask(snapshot: Snapshot, options: ChecklistOptions): Promise<ChecklistAnswer[]>;
}

export function one(
  item: ChecklistSubject,
  ask: (snapshot: Snapshot, options: ChecklistOptions) => Promise<ChecklistAnswer>,
): Question {
  return { items: [item], ask: async (snapshot, options) => [await ask(snapshot, options)] };
}
