import type pg from 'pg';
import { limitStatements } from '#database/statement-limit.js';
import { openReport, type Report } from '#ledger/postings/horizon.js';
import type { Control, ControlItem, ControlResult } from './control.js';

export interface ControlRunOptions {
  readonly controls: readonly Control[];
  /** Work younger than this may be in flight still. */
  readonly graceMs: number;
  /** As in the context of a control. */
  readonly reportOverdueMs?: number | undefined;
  /** Only what concerns the time before counts; null or left out: everything. ISO 8601. */
  readonly before?: string | null;
  /** Items that each control names at most. */
  readonly limit?: number;
  /** Controls that look at recent things alone, by their ids: ISO 8601, from when on. All others look at everything. */
  readonly since?: ReadonlyMap<string, string>;
  /** Each query of a control is given up after this. */
  readonly limitMs: number;
  /** Called before each control. */
  readonly onProgress?: (control: Control) => void;
  /** Stops between two controls. */
  readonly signal?: AbortSignal;
}

/** What became of one control: what it found, or why it could not look. */
export interface ControlOutcome {
  readonly control: Control;
  readonly durationMs: number;
  /** It looked at what happened from then on; null: at everything. */
  readonly since: string | null;
  readonly result: FoundItems | null;
  readonly error: string | null;
}

/** Items by subject: each is named once, however often the control came upon it. */
export interface FoundItems extends ControlResult {
  /** Not every item is named, since there are more than the limit. */
  readonly isCut: boolean;
}

export interface ControlRun {
  /** Up to where the books were certain. PostgreSQL's text, UTC. */
  readonly horizon: string;
  readonly outcomes: readonly ControlOutcome[];
}

/** Enough for a person to see what is going on; the count covers the others. */
const ITEMS_NAMED = 500;

/**
 * Runs controls one after the other on one snapshot, up to the horizon. One that fails, or whose query takes too long, is
 * reported as such, and the others run all the same. It uses one core of the database at most, and stores nothing.
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

/** The same on a snapshot that the caller has open. */
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
    const context = {
      horizon,
      graceMs,
      before,
      limit,
      scope,
      since,
      ...(reportOverdueMs === undefined ? {} : { reportOverdueMs }),
    };
    const looked = await runOne(client, options.limitMs, () => control.check(client, context));
    outcomes.push({ control, since, ...looked });
  }
  return outcomes;
}

/** The savepoint undoes the settings of the control too, whatever it set. */
async function runOne(
  client: pg.ClientBase,
  limitMs: number,
  check: () => Promise<ControlResult>,
): Promise<Omit<ControlOutcome, 'control' | 'since'>> {
  const startedAt = performance.now();
  const ended = (result: ControlResult | null, error: string | null) => {
    const durationMs = Math.round(performance.now() - startedAt);
    return { durationMs, result: result && bySubject(result), error };
  };
  await client.query('SAVEPOINT control');
  try {
    await client.query(`SET LOCAL max_parallel_workers_per_gather = 0`);
    await limitStatements(client, limitMs);
    return ended(await check(), null);
  } catch (error) {
    return ended(null, wordsOf(error, limitMs));
  } finally {
    await client.query('ROLLBACK TO SAVEPOINT control');
    await client.query('RELEASE SAVEPOINT control');
  }
}

const QUERY_CANCELLED = '57014';

function wordsOf(error: unknown, limitMs: number): string {
  if ((error as { code?: unknown }).code === QUERY_CANCELLED) return `took longer than ${limitMs / 1000} s`;
  return error instanceof Error ? error.message : String(error);
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

function together(first: ControlItem, second: ControlItem): ControlItem {
  return {
    ...first,
    message: first.message === second.message ? first.message : `${first.message} ${second.message}`,
    details: { ...second.details, ...first.details },
    transactionIds: [...new Set([...first.transactionIds, ...second.transactionIds])],
  };
}
