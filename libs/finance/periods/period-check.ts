import type pg from 'pg';
import { atHorizon } from '#ledger/postings/horizon.js';
import type { ChecklistOptions } from './checklist-question.js';
import { readCloseGrace } from './close-grace.js';
import type { ChecklistItem } from './period.js';
import { findForWaiver, runChecklist } from './period-checklist.js';

/** As for the checklist. Default: the grace that a close uses. Any other value shows what would be found with it. */
export type CheckOptions = Omit<ChecklistOptions, 'graceMs' | 'isRehearsal'> & { readonly graceMs?: number };

export interface CheckedPeriod {
  at: string;
  checklist: ChecklistItem[];
  graceMs: number;
  /** What a close uses. */
  closeGraceMs: number;
}

/** Runs the checklist as a close would, and changes nothing. */
export async function checkPeriod(pool: pg.Pool, options: CheckOptions): Promise<CheckedPeriod> {
  return atHorizon(pool, async (client, horizon) => {
    const closeGraceMs = await readCloseGrace(client);
    const { graceMs = closeGraceMs } = options;
    const asked = { ...options, graceMs, isRehearsal: true };
    const checklist = await runChecklist({ client, horizon }, asked);
    return { at: horizon.at, checklist, graceMs, closeGraceMs };
  });
}

/** What an item of the checklist would find in a close right now. Changes nothing. */
export async function findingsToWaive(
  pool: pg.Pool,
  item: string,
  options: Pick<CheckOptions, 'end' | 'limitMs'>,
): Promise<{ count: number; findings: readonly string[] | null }> {
  return atHorizon(pool, async (client, horizon) => {
    const graceMs = await readCloseGrace(client);
    return findForWaiver({ client, horizon }, item, { ...options, graceMs });
  });
}
