import type { Report } from '#ledger/postings/horizon.js';
import { recognitionProgress } from '#ledger/lots/recognition.js';
import { readTrialBalance } from '#ledger/reports/trial-balance.js';
import type { Control, ControlItem, ControlResult } from '../control.js';
import { runControlsOn } from '../control-run.js';
import { controls } from '../controls.js';
import { costsProgress } from '../costs/accrual.js';
import { clearedSentence, clearedSince } from '../provider-reports/suspense.control.js';
import { unsealed } from './catch-up.js';
import { tellDoneAlone } from './done-alone.js';
import type { ChecklistItem } from './period.js';
import { type Waiver, waiversOf } from './waiver.js';

export interface ChecklistOptions {
  /** The end of the period. */
  readonly end: Date;
  /** Work younger than this may be in flight still. */
  readonly graceMs: number;
  /** Each question is given up after this. */
  readonly limitMs: number;
  /** Nothing was brought up to the end before: what the close does first is no finding. */
  readonly isRehearsal?: boolean | undefined;
  /** Told before each question. */
  readonly onProgress?: ((words: string) => void | Promise<void>) | undefined;
  readonly signal?: AbortSignal | undefined;
}

type Snapshot = Pick<Report, 'client' | 'horizon'>;

interface Answer {
  count: number;
  message: string;
  /** What is found, one by one, as `state subject`; null where more is found than is read. */
  findings?: readonly string[] | null;
}

interface Subject {
  id: string;
  title: string;
  /** Books that do not add up cannot be closed by saying why; what waits for people can. */
  waivable: boolean;
  /** A close does it before it asks. */
  isCaughtUp?: true;
  control?: string;
}

/** What is asked once may answer several items of the checklist: one answer each. */
interface Question {
  items: readonly Subject[];
  ask(snapshot: Snapshot, options: ChecklistOptions): Promise<Answer[]>;
}

type Left = 'all' | readonly string[];

/**
 * Which states of a control's findings tell of work that is left, or of what is not known yet, which a person may leave for
 * later with a second one's agreement. In any other state, and in any of a control that is not here, the books contradict
 * themselves.
 */
const LEFT: Readonly<Record<string, Left>> = {
  payments: 'all',
  payouts: 'all',
  bank: 'all',
  suspense: 'all',
  'charges-tasks': ['charged_without_work', 'work_without_charge', 'failed_without_release'],
  holds: 'all',
  'refund-latency': 'all',
  revenue: ['summary_differs'],
  costs: ['unknown_cost', 'behind'],
};

const questions: readonly Question[] = [
  one(
    {
      id: 'zero-sums',
      title: 'All accounts together are 0 in each commodity',
      waivable: false,
    },
    askZeroSums,
  ),
  one(
    {
      id: 'costs',
      title: 'The costs of all work before the end are told',
      waivable: false,
      isCaughtUp: true,
    },
    askCosts,
  ),
  one(
    {
      id: 'recognition',
      title: 'The revenue of everything before the end is recognised',
      waivable: false,
      isCaughtUp: true,
    },
    askRecognition,
  ),
  one(
    {
      id: 'chain',
      title: 'Everything before the end is sealed in the hash chain',
      waivable: false,
      isCaughtUp: true,
    },
    askChain,
  ),
  one(
    {
      id: 'approvals',
      title: 'Nothing about money from before the end waits for a second person',
      waivable: true,
    },
    askApprovals,
  ),
  ...controls.map(ofControl),
  one(
    {
      id: 'suspense-cleared',
      title: 'What was in suspense at the end and has been cleared since',
      waivable: false,
    },
    tellCleared,
  ),
  one(
    {
      id: 'done-alone',
      title: 'What one person decided that needs two',
      waivable: false,
    },
    ({ client }, { end }) => tellDoneAlone(client, end),
  ),
];

function one(
  item: Subject,
  ask: (snapshot: Snapshot, options: ChecklistOptions) => Promise<Answer>,
): Question {
  return { items: [item], ask: async (snapshot, options) => [await ask(snapshot, options)] };
}

/** A control with findings of both kinds is two items, so that who waives what is left waives no contradiction. */
function ofControl({ id: control, title }: Control): Question {
  const left = LEFT[control] ?? [];
  const isLeft = ({ state }: ControlItem): boolean => left.includes(state);
  const id = `control:${control}`;
  const contradicts: Subject = { id, title, control, waivable: false };
  if (left === 'all') {
    return one({ ...contradicts, waivable: true }, async (snapshot, options) =>
      withList(control, answerFor(await findingsOf(control, snapshot, options)), options.end),
    );
  }
  if (left.length === 0) {
    return one(contradicts, async (snapshot, options) =>
      answerFor(await findingsOf(control, snapshot, options)),
    );
  }
  const waits: Subject = { id: `${id}:left`, title: `${title}: what is left to do`, control, waivable: true };
  return {
    items: [contradicts, waits],
    ask: async (snapshot, options) => {
      const { count, states = {}, items } = await findingsOf(control, snapshot, options);
      const counted = left.reduce((sum, state) => sum + (states[state] ?? 0), 0);
      const others = { count: count - counted, items: items.filter((item) => !isLeft(item)) };
      return [answerFor(others), answerFor({ count: counted, items: items.filter(isLeft) })];
    },
  };
}

/** The ids of items that may be waived. */
export function waivableItems(): string[] {
  return questions.flatMap(({ items }) => items.filter(({ waivable }) => waivable).map(({ id }) => id));
}

/**
 * Asks everything, one after the other, on one snapshot, and holds it against the waivers that two people agreed on for this
 * end. What cannot be answered has failed, and no waiver covers it.
 */
export async function runChecklist(snapshot: Snapshot, options: ChecklistOptions): Promise<ChecklistItem[]> {
  const waivers = await waiversOf(snapshot.client, options.end);
  const checklist: ChecklistItem[] = [];
  for (const [index, question] of questions.entries()) {
    options.signal?.throwIfAborted();
    await options.onProgress?.(`${index + 1} of ${questions.length}: ${question.items[0]?.title}`);
    const answers = await answersOf(question, snapshot, options);
    for (const [place, item] of question.items.entries()) {
      const told = (answers.told?.[place] ?? answers.failure) as Answer;
      const waiver = answers.told ? waivers.find((each) => covers(each, item, told)) : undefined;
      checklist.push(itemOf(item, isLater(item, options, told) ? later(told) : told, waiver));
    }
  }
  return checklist;
}

/** A finding that came since is not waived by one that went. */
function covers(waiver: Waiver, { id, waivable }: Subject, { count, findings = null }: Answer): boolean {
  if (!waivable || waiver.item !== id || count > waiver.count) return false;
  if (waiver.findings === null) return true;
  const agreed = new Set(waiver.findings);
  return findings?.every((finding) => agreed.has(finding)) === true;
}

/**
 * What an item of the checklist finds at this moment, for two people to agree on leaving it.
 * @throws Error where it could not be looked at
 */
export async function findForWaiver(
  snapshot: Snapshot,
  itemId: string,
  options: ChecklistOptions,
): Promise<{ count: number; findings: readonly string[] | null }> {
  const question = questions.find(({ items }) => items.some(({ id }) => id === itemId));
  const place = question?.items.findIndex(({ id }) => id === itemId) ?? -1;
  const answer = (await question?.ask(snapshot, options))?.[place];
  if (!answer) throw new Error(`The checklist has no item ${itemId}.`);
  return { count: answer.count, findings: answer.findings ?? null };
}

function isLater({ isCaughtUp }: Subject, { isRehearsal }: ChecklistOptions, { count }: Answer): boolean {
  return isRehearsal === true && isCaughtUp === true && count > 0;
}

function later({ message }: Answer): Answer {
  return { count: 0, message: `${message} The close does the rest first.` };
}

function itemOf(item: Subject, { count, message }: Answer, waiver: Waiver | undefined): ChecklistItem {
  const { id, title, waivable, control = null } = item;
  const head = { id, title, count, message, waivable, control };
  if (count === 0) return { ...head, state: 'ok', reason: null, waiverId: null };
  return waiver
    ? { ...head, state: 'waived', reason: waiver.reason, waiverId: waiver.id }
    : { ...head, state: 'failed', reason: null, waiverId: null };
}

type Answers = { told: Answer[]; failure: null } | { told: null; failure: Answer };

/** The savepoint keeps the snapshot when a question fails. */
async function answersOf(
  question: Question,
  snapshot: Snapshot,
  options: ChecklistOptions,
): Promise<Answers> {
  const { client } = snapshot;
  await client.query('SAVEPOINT question');
  try {
    await client.query(`SET LOCAL statement_timeout = ${Math.ceil(options.limitMs)}`);
    return { told: await question.ask(snapshot, options), failure: null };
  } catch (error) {
    const message = `It could not be answered: ${(error as Error).message}`;
    return { told: null, failure: { count: 1, message } };
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
  const { rows } = await client.query<{ kind: string; ids: string[] }>(
    `SELECT kind, array_agg(id ORDER BY id) AS ids FROM approvals
     WHERE state = 'pending' AND created_at < $1 AND amount IS NOT NULL GROUP BY kind ORDER BY kind`,
    [end],
  );
  const words = rows.map(({ kind, ids }) => `${ids.length} of ${kind}`);
  const findings = rows.flatMap(({ ids }) => ids.map((id) => `pending approval:${id}`));
  return { count: findings.length, message: words.join(', ') || 'Nothing does.', findings };
}

/** Money that waited at the end, and of which somebody has said since what it is: nothing is left to do. */
async function tellCleared({ client }: Snapshot, { end }: ChecklistOptions): Promise<Answer> {
  const cleared = await clearedSince(client, { end, limit: CLEARED_TOLD });
  const words = cleared.items.map(clearedSentence);
  const more = cleared.count - cleared.items.length;
  if (more > 0) words.push(`So are ${more} others.`);
  return { count: 0, message: words.join(' ') || 'Nothing was, or all of it is there still.' };
}

async function findingsOf(id: string, snapshot: Snapshot, options: ChecklistOptions): Promise<ControlResult> {
  const { graceMs, limitMs, end } = options;
  const chosen = controls.filter((control) => control.id === id);
  const [outcome] = await runControlsOn(snapshot, {
    controls: chosen,
    graceMs,
    limitMs,
    before: end.toISOString(),
    limit: FINDINGS_READ,
  });
  const { result, error } = outcome ?? {};
  if (!result) throw new Error(error ?? 'its control did not run');
  return result;
}

function answerFor({ count, items }: ControlResult): Answer {
  const words = items.slice(0, EXAMPLES).map(({ message, subject }) => `${subject}: ${message}`);
  return {
    count,
    message: words.join(' ') || (count === 0 ? 'Nothing is found.' : 'There are more than are named.'),
    findings: count > items.length ? null : items.map(({ state, subject }) => `${state} ${subject}`),
  };
}

/** Some of these findings are none while the period is open, so that its control does not name them. */
function withList(control: string, answer: Answer, end: Date): Answer {
  const { count, message } = answer;
  if (count === 0 || !RECONCILED.includes(control)) return answer;
  const command = `tollgate finance reconcile ${control} --faults --before ${end.toISOString()}`;
  return {
    ...answer,
    message: `${message} All of them: ${command}, or before=${end.toISOString()} in the list.`,
  };
}

const RECONCILED: readonly string[] = ['payments', 'payouts', 'bank'];

/** Enough to see what it is about; the control itself names them all. */
const EXAMPLES = 3;
/** Findings that are read to name some; all are counted. */
const FINDINGS_READ = 5_000;
const CLEARED_TOLD = 200;
