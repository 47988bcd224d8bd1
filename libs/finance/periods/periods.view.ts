import type pg from 'pg';
import { z } from 'zod';
import { timeView, numberText, saidFields, shown } from '#platform/http/fields.js';
import { trialBalanceView } from '../views/ledger.view.js';
import { type Note, noteCodes } from './checklist-note.js';
import { type ChecklistItem, type Period, periodBalances } from './period.js';
import type { Waiver } from './waiver.js';

const noteView = z
  .object({
    ...saidFields(noteCodes),
  })
  .meta({
    id: 'ChecklistNote',
    description: 'The params of `finding` are those of the finding, with its subject and state.',
  });

export const checklistItemView = z
  .object({
    id: z.string().meta({ examples: ['zero-sums', 'control:payments'] }),
    title: z.string(),
    state: z.enum(['ok', 'failed', 'waived']),
    count: z.int().describe('The number of problems. 0 if there are none.'),
    notes: z.array(noteView).describe('What was found.'),
    message: z.string().describe('The same in English.'),
    waivable: z.boolean().describe('Whether the period can be closed despite it, with a reason.'),
    control: z.string().nullable().describe('The control that lists the problems.'),
    reason: z.string().nullable().describe('Why it was waived.'),
    waiverId: z.string().nullable().describe('The waiver that two people agreed to.'),
  })
  .meta({ id: 'ChecklistItem' });

const usedWaiver = z
  .object({
    item: z.string(),
    reason: z.string(),
    count: z.int().nullable(),
    requestedBy: z.string().nullable(),
    approvedBy: z.string().nullable(),
  })
  .meta({ id: 'UsedWaiver' });

const GRACE = 'Work younger than this many seconds counts as in progress, as configured for billing.';

export const grace = z.number().meta({ description: GRACE, examples: [300] });

export const periodView = z
  .object({
    id: numberText,
    startsAt: timeView.nullable().describe('Null means from the beginning.'),
    endsAt: timeView.describe('The first instant after the period.'),
    state: z.enum(['closing', 'closed', 'abandoned']),
    progress: noteView.nullable().describe('What a close is doing.'),
    recordedBefore: timeView
      .nullable()
      .describe(
        'The trial balance at `endsAt` by effective time, as recorded before this time, never changes.',
      ),
    checklist: z.array(checklistItemView),
    balancesHash: z
      .string()
      .nullable()
      .describe(
        'SHA-256 of lines of code, commodity and balance in the smallest units of the ledger, separated by tabs and ordered by code.',
      ),
    abandonedNote: noteView
      .nullable()
      .describe('Why the close was abandoned. Null if that was before it had codes.'),
    abandonedReason: z.string().nullable().describe('The same in English.'),
    waivers: z.array(usedWaiver),
    graceSeconds: grace
      .nullable()
      .describe(`${GRACE} Null if the period was closed before this was recorded.`),
    note: z.string().nullable(),
    closedBy: z.string().describe('`user:{id}`, or the name of a command-line operator.'),
    begunAt: timeView,
    endedAt: timeView.nullable(),
    latePostings: z.int().describe('Facts of this period that arrived after its close.'),
  })
  .meta({ id: 'Period' });

export const waiverView = z
  .object({
    id: z.string(),
    end: timeView,
    item: z.string(),
    count: z.int(),
    findings: z
      .array(z.string())
      .nullable()
      .describe('The waived problems, each as `state subject`. Null if there were more than 5,000.'),
    reason: z.string(),
    requestedBy: z.string().describe('`user:{id}`.'),
    approvedBy: z.string(),
    recordedAt: timeView,
  })
  .meta({ id: 'Waiver' });

export function viewPeriod({
  graceMs,
  checklist,
  waivers,
  progress,
  ...period
}: Period): z.output<typeof periodView> {
  return shown(periodView, {
    ...period,
    progress: progressOf(progress),
    checklist: checklist.map(viewItem),
    // Periods closed when one person could waive have no second name.
    waivers: waivers.map(({ count = null, requestedBy = null, approvedBy = null, ...waiver }) => {
      return { ...waiver, count, requestedBy, approvedBy };
    }),
    graceSeconds: graceMs === null ? null : graceMs / 1000,
  });
}

export function viewItem({ notes = [], ...item }: ChecklistItem): z.output<typeof checklistItemView> {
  return shown(checklistItemView, { ...item, notes: [...notes], waiverId: item.waiverId ?? null });
}

/** An earlier version wrote a sentence. */
function progressOf(progress: string | null): z.input<typeof noteView> | null {
  return progress?.startsWith('{') === true ? (JSON.parse(progress) as Note) : null;
}

/** The trial balance of a closed period as it was stored. @param currency of payments, ISO 4217 */
export async function balancesOfPeriod(database: pg.Pool, periodId: bigint, currency: string) {
  const balances = await periodBalances(database, periodId);
  const report = { by: 'effective', at: 'infinity', recordedBefore: 'infinity' } as const;
  return trialBalanceView({ ...report, totals: [], balances }, currency).balances;
}

export function viewWaiver({ findings, ...waiver }: Waiver): z.output<typeof waiverView> {
  return shown(waiverView, { ...waiver, findings: findings && [...findings] });
}
