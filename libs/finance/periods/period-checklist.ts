import type { Report } from '#ledger/horizon.js';
import { recognitionProgress } from '#ledger/recognition.js';
import { readTrialBalance } from '#ledger/trial-balance.js';
import { runControlsOn } from '../control-run.js';
import { controls } from '../controls.js';
import { costsProgress } from '../costs/accrual.js';
import { unsealed } from './catch-up.js';
import type { ChecklistItem, Waiver } from './period.js';

export interface ChecklistOptions {
  /** The end of the period. */
  readonly end: Date;
  readonly waivers: readonly Waiver[];
  /** Work younger than this may be in flight still. */
  readonly graceMs: number;
  /** Each question is given up after this. */
  readonly limitMs: number;
  /** Nothing was brought up to the end before: what the close does first is no finding. */
  readonly isRehearsal?: boolean | undefined;
  /** Told before each item. */
  readonly onProgress?: ((words: string) => void | Promise<void>) | undefined;
  readonly signal?: AbortSignal | undefined;
}

type Snapshot = Pick<Report, 'client' | 'horizon'>;

interface Answer {
  count: number;
  message: string;
}

interface Question {
  id: string;
  title: string;
  /** Books that do not add up cannot be closed by saying why; what waits for people can. */
  waivable: boolean;
  /** A close does it before it asks. */
  isCaughtUp?: true;
  control?: string;
  ask(snapshot: Snapshot, options: ChecklistOptions): Promise<Answer>;
}

/**
 * Controls whose findings mean that the books themselves contradict each other. All others tell of work that is left, which
 * a person may leave for later, saying why.
 */
const NEVER_WAIVED = new Set([
  'ledger',
  'chain',
  'chain-whole',
  'deferred-revenue',
  'lots',
  'adjustments',
  'frozen-accounts',
  'closed-periods',
]);

const questions: readonly Question[] = [
  {
    id: 'zero-sums',
    title: 'All accounts together are 0 in each commodity',
    waivable: false,
    ask: askZeroSums,
  },
  {
    id: 'costs',
    title: 'The costs of all work before the end are told',
    waivable: false,
    isCaughtUp: true,
    ask: askCosts,
  },
  {
    id: 'recognition',
    title: 'The revenue of everything before the end is recognised',
    waivable: false,
    isCaughtUp: true,
    ask: askRecognition,
  },
  {
    id: 'chain',
    title: 'Everything before the end is sealed in the hash chain',
    waivable: false,
    isCaughtUp: true,
    ask: askChain,
  },
  {
    id: 'approvals',
    title: 'Nothing about money from before the end waits for a second person',
    waivable: true,
    ask: askApprovals,
  },
  ...controls.map(({ id, title }) => ({
    id: `control:${id}`,
    title,
    control: id,
    waivable: !NEVER_WAIVED.has(id),
    ask: (snapshot: Snapshot, options: ChecklistOptions) => askControl(id, snapshot, options),
  })),
];

/** The ids that a person may waive. */
export function waivableItems(): string[] {
  return questions.filter(({ waivable }) => waivable).map(({ id }) => id);
}

/** Asks everything, one after the other, on one snapshot. What cannot be answered has failed. */
export async function runChecklist(snapshot: Snapshot, options: ChecklistOptions): Promise<ChecklistItem[]> {
  const items: ChecklistItem[] = [];
  for (const [index, question] of questions.entries()) {
    options.signal?.throwIfAborted();
    await options.onProgress?.(`${index + 1} of ${questions.length}: ${question.title}`);
    items.push(await askOne(question, snapshot, options));
  }
  return items;
}

async function askOne(
  question: Question,
  snapshot: Snapshot,
  options: ChecklistOptions,
): Promise<ChecklistItem> {
  const { id, title, waivable, control = null } = question;
  const answer = await answerOf(question, snapshot, options);
  const isLater = options.isRehearsal === true && question.isCaughtUp === true && answer.count > 0;
  const count = isLater ? 0 : answer.count;
  const message = isLater ? `${answer.message} The close does the rest first.` : answer.message;
  const head = { id, title, count, message, waivable, control };
  if (count === 0) return { ...head, state: 'ok', reason: null };
  const waiver = waivable ? options.waivers.find(({ item }) => item === id) : undefined;
  return waiver
    ? { ...head, state: 'waived', reason: waiver.reason }
    : { ...head, state: 'failed', reason: null };
}

/** The savepoint keeps the snapshot when a question fails. */
async function answerOf(question: Question, snapshot: Snapshot, options: ChecklistOptions): Promise<Answer> {
  const { client } = snapshot;
  await client.query('SAVEPOINT question');
  try {
    await client.query(`SET LOCAL statement_timeout = ${Math.ceil(options.limitMs)}`);
    return await question.ask(snapshot, options);
  } catch (error) {
    return { count: 1, message: `It could not be answered: ${(error as Error).message}` };
  } finally {
    await client.query('ROLLBACK TO SAVEPOINT question');
    await client.query('RELEASE SAVEPOINT question');
  }
}

async function askZeroSums({ client, horizon }: Snapshot, { end }: ChecklistOptions): Promise<Answer> {
  const { totals } = await readTrialBalance(client, horizon, { by: 'effective', at: end });
  const wrong = totals.filter(({ total }) => total !== 0n);
  const words = wrong.map(({ commodity, total }) => `${commodity} is off by ${total}`);
  return { count: wrong.length, message: words.join(', ') || 'They are.' };
}

/** Charges that ended, and whose cost nobody has looked at. */
async function askCosts({ client }: Snapshot, { end }: ChecklistOptions): Promise<Answer> {
  const { at } = await costsProgress(client);
  const { rows } = await client.query<{ count: number }>(
    'SELECT count(*)::int AS count FROM charges WHERE resolved_at >= $1::timestamptz AND resolved_at < $2',
    [at, end],
  );
  const { count = 0 } = rows[0] ?? {};
  return { count, message: count === 0 ? 'They are.' : `Those of ${count} charges are not told yet.` };
}

/** Customers' transactions that no recogniser has seen. */
async function askRecognition({ client }: Snapshot, { end }: ChecklistOptions): Promise<Answer> {
  const { throughId } = await recognitionProgress(client);
  const { rows } = await client.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM ledger_transactions
     WHERE id > $1 AND effective_at < $2 AND account_id IS NOT NULL AND kind NOT IN ('hold', 'release', 'recognition')`,
    [throughId, end],
  );
  const { count = 0 } = rows[0] ?? {};
  return { count, message: count === 0 ? 'It is.' : `${count} transactions are left.` };
}

/** Whether the chain holds is what its controls say. */
async function askChain({ client }: Snapshot, { end }: ChecklistOptions): Promise<Answer> {
  const left = await unsealed(client, { before: null, effectiveBefore: end.toISOString() });
  return { count: left, message: left === 0 ? 'It is.' : `${left} transactions are in no block yet.` };
}

async function askApprovals({ client }: Snapshot, { end }: ChecklistOptions): Promise<Answer> {
  const { rows } = await client.query<{ kind: string; count: number }>(
    `SELECT kind, count(*)::int AS count FROM approvals
     WHERE state = 'pending' AND created_at < $1 AND amount IS NOT NULL GROUP BY kind ORDER BY kind`,
    [end],
  );
  const words = rows.map(({ kind, count }) => `${count} of ${kind}`);
  return {
    count: rows.reduce((sum, row) => sum + row.count, 0),
    message: words.join(', ') || 'Nothing does.',
  };
}

async function askControl(id: string, snapshot: Snapshot, options: ChecklistOptions): Promise<Answer> {
  const { graceMs, limitMs, end } = options;
  const chosen = controls.filter((control) => control.id === id);
  const [outcome] = await runControlsOn(snapshot, {
    ...{ controls: chosen, graceMs, limitMs, before: end.toISOString(), limit: EXAMPLES },
  });
  const { result, error } = outcome ?? {};
  if (!result) return { count: 1, message: `It failed: ${error ?? 'it did not run'}` };
  const words = result.items.slice(0, EXAMPLES).map(({ message, subject }) => `${subject}: ${message}`);
  return { count: result.count, message: words.join(' ') || 'Nothing is found.' };
}

/** Enough to see what it is about; the control itself names them all. */
const EXAMPLES = 3;
