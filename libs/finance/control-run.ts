import type pg from 'pg';
import { limitStatements } from '#database/pooled-client.js';
import { openReport, type Report } from '#ledger/postings/horizon.js';
import type { Control, ControlItem, ControlResult } from './control.js';

export interface ControlRunOptions {
  readonly controls: readonly Control[];
  /** Work younger than this may still be in progress. */
  readonly graceMs: number;
  /** As in `ControlContext`. */
  readonly reportOverdueMs?: number | undefined;
  /** Considers only what happened before this time. Null or omitted: everything. ISO 8601. */
  readonly before?: string | null;
  /** The maximum number of items that each control names. */
  readonly limit?: number;
  /** By control ID, the time from which the control looks at recent items only, in ISO 8601. All others look at everything. */
  readonly since?: ReadonlyMap<string, string>;
  /** The time limit for each query of a control. */
  readonly limitMs: number;
  /** Called before each control. */
  readonly onProgress?: (control: Control) => void;
  /** Stops between two controls. */
  readonly signal?: AbortSignal;
}

/** The outcome of one control: its findings, or why it could not run. */
export interface ControlOutcome {
  readonly control: Control;
  readonly durationMs: number;
  /** The control looked only at what happened from then on. Null: at everything. */
  readonly since: string | null;
  readonly result: FoundItems | null;
  /** Why it could not run: a code, and the English sentence. */
  readonly fault: ControlFault | null;
  readonly error: string | null;
}

/** `too_slow`: its query took longer than allowed. */
export const controlFaults = ['too_slow', 'failed'] as const;
type ControlFault = (typeof controlFaults)[number];

/** Items by subject, each named once. */
export interface FoundItems extends ControlResult {
  /** Whether there are more items than the limit, so that not all are named. */
  readonly isCut: boolean;
}

export interface ControlRun {
  /** The time up to which the books were final, as PostgreSQL text in UTC. */
  readonly horizon: string;
  readonly outcomes: readonly ControlOutcome[];
}

/** Enough to see what is wrong. The count covers the rest. */
const ITEMS_NAMED = 500;

/**
 * Runs controls one after the other on one snapshot, up to the horizon. A control that fails, or whose query takes too long, is
 * reported as such, and the others still run. Uses at most one core of the database, and stores nothing.
 * @throws Error of the database when the connection is lost
 */
export async function runControls(pool: pg.Pool, options: ControlRunOptions): Promise<ControlRun> {
  const { client, horizon, close } = await openReport(pool);
  try {
    return { horizon: horizon.at, outcomes: await runControlsOn({ client, horizon }, options) };
  } finally {
    await close();
  }
}

/** The same on the caller's open snapshot. */
export async function runControlsOn(
  { client, horizon }: Pick<Report, 'client' | 'horizon'>,
  options: ControlRunOptions,
): Promise<ControlOutcome[]> {
  const { graceMs, reportOverdueMs, before = null, limit = ITEMS_NAMED, signal } = options;
  const outcomes: ControlOutcome[] = [];
  for (const control of options.controls) {
    if (signal?.aborted) break;
    options.onProgress?.(control);
    const since = (control.window === true && options.since?.get(control.id)) || null;
    const scope = since === null ? ('whole' as const) : ('recent' as const);
    const context = { horizon, graceMs, before, limit, scope, since, reportOverdueMs };
    const looked = await runOne(client, options.limitMs, () => control.check(client, context));
    outcomes.push({ control, since, ...looked });
  }
  return outcomes;
}

/** The savepoint also undoes any settings of the control. */
async function runOne(
  client: pg.ClientBase,
  limitMs: number,
  check: () => Promise<ControlResult>,
): Promise<Omit<ControlOutcome, 'control' | 'since'>> {
  const startedAt = performance.now();
  const durationMs = () => Math.round(performance.now() - startedAt);
  await client.query('SAVEPOINT control');
  try {
    await client.query(`SET LOCAL max_parallel_workers_per_gather = 0`);
    await limitStatements(client, limitMs);
    const result = bySubject(await check());
    return { durationMs: durationMs(), result, fault: null, error: null };
  } catch (error) {
    return { durationMs: durationMs(), result: null, ...faultOf(error, limitMs) };
  } finally {
    await client.query('ROLLBACK TO SAVEPOINT control');
    await client.query('RELEASE SAVEPOINT control');
  }
}

const QUERY_CANCELLED = '57014';

function faultOf(error: unknown, limitMs: number): Pick<ControlOutcome, 'fault' | 'error'> {
  if (isTooSlow(error)) return { fault: 'too_slow', error: `took longer than ${limitMs / 1000} s` };
  return { fault: 'failed', error: error instanceof Error ? error.message : String(error) };
}

/** A control that a query of the checklist runs took too long. */
export class TooSlow extends Error {}

export function isTooSlow(error: unknown): boolean {
  return error instanceof TooSlow || (error as { code?: unknown }).code === QUERY_CANCELLED;
}

function bySubject({ count, states, items, passedOver = [] }: ControlResult): FoundItems {
  const bySubject = new Map<string, ControlItem>();
  for (const item of items) {
    const first = bySubject.get(item.subject);
    bySubject.set(item.subject, first ? together(first, item) : item);
  }
  const found = { count, items: [...bySubject.values()], isCut: count > items.length, passedOver };
  return states ? { ...found, states } : found;
}

/** A subject has one state; the console says the others as well. */
function also({ state, details }: ControlItem, second: ControlItem): Record<string, string> {
  const others = new Set(details['also']?.split(' ') ?? []).add(second.state);
  others.delete(state);
  return others.size === 0 ? {} : { also: [...others].join(' ') };
}

function together(first: ControlItem, second: ControlItem): ControlItem {
  return {
    ...first,
    message: first.message === second.message ? first.message : `${first.message} ${second.message}`,
    details: { ...second.details, ...first.details, ...also(first, second) },
    transactionIds: [...new Set([...first.transactionIds, ...second.transactionIds])],
  };
}
