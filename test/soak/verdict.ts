import { controls } from '#finance/controls.js';
import { runControls } from '#finance/control-run.js';
import { checkLedger } from '#ledger/checks/ledger-check.js';
import { verifyChain } from '#ledger/chain/chain-verify.js';
import { until } from '../support/eventually.js';
import type { Books } from '../support/books.js';
import type { Answer, Caller } from './calls.js';

/**
 * The controls that compare our books with themselves. The others need reports by providers and banks, which nobody
 * imports here.
 */
const CONTROLS = [
  'adjustments',
  'charges-tasks',
  'closed-periods',
  'deferred-revenue',
  'holds',
  'ledger',
  'lots',
  'promotion',
  'revenue',
];
const LIMIT_MS = 180_000;
const SHOWN = 3;

/** Violated ledger rules and findings during a run, about anything older than `graceMs`; empty if all is well. */
export async function faultsNow({ pool }: Books, graceMs: number): Promise<string[]> {
  const { violations } = await checkLedger(pool, { graceMs });
  const chosen = controls.filter(({ id }) => CONTROLS.includes(id));
  const { outcomes } = await runControls(pool, { controls: chosen, graceMs, limitMs: LIMIT_MS });
  const found = outcomes.filter(({ result, error }) => error !== null || result?.count !== 0);
  return [
    ...violations.map(({ invariant, message, rows }) => `${invariant}: ${message} ${JSON.stringify(rows)}`),
    ...found.map(({ control, result, error }) => {
      const items = result?.items.slice(0, SHOWN).map(({ subject, state }) => `${subject} ${state}`);
      return `control ${control.id}: ${error ?? items?.join(', ')}`;
    }),
  ];
}

export interface Comparison {
  answered: number;
  /** Calls that got an error. */
  failed: number;
  /** Calls without an answer, or with one that broke off. */
  unanswered: number;
  /** Answers without a charge. */
  lost: number;
  /** Charges without an answer. */
  doubled: number;
  faults: string[];
}

interface Charged {
  requestId: string | null;
  paid: number;
}

/** Compares every answer with the charges of its request, after following tasks to their end. */
export async function compare(books: Books, caller: Caller): Promise<Comparison> {
  const { rows } = await books.pool.query<Charged>(
    `SELECT request_id AS "requestId", count(*) FILTER (WHERE settled > 0)::int AS paid FROM charges GROUP BY 1`,
  );
  const paidOf = new Map(rows.map(({ requestId, paid }) => [requestId, paid]));
  const ends = await endsOf(caller);
  const { answers } = caller;
  const result: Comparison = { answered: 0, failed: 0, unanswered: 0, lost: 0, doubled: 0, faults: [] };
  const asked = new Set<string | null>();
  for (const answer of answers) {
    if (answer.status === null || answer.isCut) result.unanswered += 1;
    else if (answer.status === 200) result.answered += 1;
    else result.failed += 1;
    if (answer.requestId === null) continue;
    asked.add(answer.requestId);
    judge(answer, { paid: paidOf.get(answer.requestId) ?? 0, end: ends.get(answer) ?? null }, result);
  }
  const unknown = rows.filter(({ requestId, paid }) => paid > 0 && !asked.has(requestId));
  const silent = answers.filter(({ requestId }) => requestId === null).length;
  if (unknown.length > silent) {
    result.doubled += unknown.length - silent;
    result.faults.push(`${unknown.length} paid requests for ${silent} answers that never came`);
  }
  return result;
}

/**
 * An error has no charge, a complete answer has one, and a task has one if it was completed. A broken answer may have
 * one.
 */
function judge(
  answer: Answer,
  { paid, end }: { paid: number; end: string | null },
  result: Comparison,
): void {
  const { status, isCut, task, kind, fault, requestId } = answer;
  const isUncertain = isCut || (fault !== null && /stream/.test(fault));
  const owed = status === 200 && (task === null || end === 'completed') ? 1 : 0;
  if (paid > 1 || (paid > owed && !isUncertain)) result.doubled += 1;
  else if (paid < owed && !isUncertain) result.lost += 1;
  else return;
  const what = `${kind}${fault === null ? '' : ` with ${fault}`}`;
  result.faults.push(
    `${what}, answered ${status}${end ? `, ${end}` : ''}: ${paid} paid charges (${requestId})`,
  );
}

async function endsOf(caller: Caller): Promise<Map<Answer, string>> {
  const ends = new Map<Answer, string>();
  for (const answer of caller.answers) {
    if (answer.task === null) continue;
    const end = await until(`${answer.task} to end`, () => caller.endOf(answer), { limitMs: LIMIT_MS });
    ends.set(answer, end);
  }
  return ends;
}

/** Verifies the whole chain, and that no credits are held once everything has ended. */
export async function faultsAtRest(books: Books, sandboxUrl: string | undefined): Promise<string[]> {
  const { head, findings } = await verifyChain(books.pool, { balances: true });
  return [
    ...findings.map((finding) => `chain: ${JSON.stringify(finding)}`),
    ...(head === null ? ['the chain has no block'] : []),
    ...(await faultsNow(books, 0)),
    ...(await books.upstreamFaults(sandboxUrl)),
  ];
}
