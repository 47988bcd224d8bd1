import type { Report } from '#ledger/postings/horizon.js';
import { type Note, note, type NoteCode } from './checklist-note.js';

export interface ChecklistOptions {
  readonly end: Date;
  /** Work younger than this may still be in progress. */
  readonly graceMs: number;
  /** The time limit for each question. */
  readonly limitMs: number;
  /** Nothing was brought up to date before: what the close does first is not a finding. */
  readonly isRehearsal?: boolean | undefined;
  /** Called before each question. */
  readonly onProgress?: ((step: Note) => void | Promise<void>) | undefined;
  readonly signal?: AbortSignal | undefined;
}

export type Snapshot = Pick<Report, 'client' | 'horizon'>;

export interface ChecklistAnswer {
  count: number;
  notes: readonly Note[];
  /** Each finding as `state subject`. Null if there are more than are read. */
  findings?: readonly string[] | null;
}

/** What is left to do of one kind, if anything. */
export function counted(code: NoteCode, count: number): ChecklistAnswer {
  return { count, notes: count === 0 ? [] : [note(code, { count })] };
}

export interface ChecklistSubject {
  id: string;
  title: string;
  /** Inconsistent books cannot be closed by giving a reason. Work that waits for people can be left. */
  waivable: boolean;
  /** A close does this itself before it asks. */
  isCaughtUp?: true;
  control?: string;
}

/** One question can answer several items of the checklist, one answer each. */
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
