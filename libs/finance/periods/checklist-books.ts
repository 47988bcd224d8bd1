import { recognitionProgress } from '#ledger/lots/recognition.js';
import { readTrialBalance } from '#ledger/reports/trial-balance.js';
import { moneyText } from '#money/currency.js';
import { costsProgress } from '../costs/accrual.js';
import { clearedSince } from '../provider-reports/suspense.control.js';
import { unsealed } from './catch-up.js';
import { note } from './checklist-note.js';
import {
  type ChecklistAnswer,
  type ChecklistOptions,
  counted,
  one,
  type Question,
  type Snapshot,
} from './checklist-question.js';
import { tellDoneAlone } from './done-alone.js';

const CLEARED_TOLD = 200;

/** What must hold for the books themselves, before any control runs. */
export const bookQuestions: readonly Question[] = [
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
      title: 'The costs of all work before the end are recorded',
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
];

/** Information for readers of the close, never an error. */
export const informativeQuestions: readonly Question[] = [
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

async function askZeroSums(
  { client, horizon }: Snapshot,
  { end }: ChecklistOptions,
): Promise<ChecklistAnswer> {
  const { totals } = await readTrialBalance(client, horizon, { by: 'effective', at: end });
  const wrong = totals.filter(({ total }) => total !== 0n);
  return {
    count: wrong.length,
    notes: wrong.map(({ commodity, total }) => note('commodity_off', { commodity, total: total.toString() })),
  };
}

/** Ended charges whose cost has not been recorded. */
async function askCosts({ client }: Snapshot, { end }: ChecklistOptions): Promise<ChecklistAnswer> {
  const { at } = await costsProgress(client);
  const { rows } = await client.query<{ count: number }>(
    'SELECT count(*)::int AS count FROM charges WHERE resolved_at >= $1::timestamptz AND resolved_at < $2',
    [at, end],
  );
  const { count = 0 } = rows[0] ?? {};
  return counted('costs_left', count);
}

/** Customers' transactions not yet seen by revenue recognition. */
async function askRecognition({ client }: Snapshot, { end }: ChecklistOptions): Promise<ChecklistAnswer> {
  const { throughId } = await recognitionProgress(client);
  const { rows } = await client.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM ledger_transactions
     WHERE id > $1 AND effective_at < $2 AND account_id IS NOT NULL AND kind NOT IN ('hold', 'release', 'recognition')`,
    [throughId, end],
  );
  const { count = 0 } = rows[0] ?? {};
  return counted('recognition_left', count);
}

/** Whether the chain is intact is up to its controls. */
async function askChain({ client }: Snapshot, { end }: ChecklistOptions): Promise<ChecklistAnswer> {
  const left = await unsealed(client, { before: null, effectiveBefore: end.toISOString() });
  return counted('chain_left', left);
}

async function askApprovals({ client }: Snapshot, { end }: ChecklistOptions): Promise<ChecklistAnswer> {
  const { rows } = await client.query<{ kind: string; ids: string[] }>(
    `SELECT kind, array_agg(id ORDER BY id) AS ids FROM approvals
     WHERE state = 'pending' AND created_at < $1 AND amount IS NOT NULL GROUP BY kind ORDER BY kind`,
    [end],
  );
  const notes = rows.map(({ kind, ids }) => note('approvals_pending', { kind, count: ids.length }));
  const findings = rows.flatMap(({ ids }) => ids.map((id) => `pending approval:${id}`));
  return { count: findings.length, notes, findings };
}

/** Money that was in suspense at the end and has since been classified: nothing is left to do. */
async function tellCleared({ client }: Snapshot, { end }: ChecklistOptions): Promise<ChecklistAnswer> {
  const cleared = await clearedSince(client, { end, limit: CLEARED_TOLD });
  const notes = cleared.items.map(
    ({ amountMinor, currency, transactionId: _, clearedTransactionId, ...item }) =>
      note('cleared', {
        ...item,
        amount: moneyText(amountMinor, currency),
        transaction: clearedTransactionId.toString(),
      }),
  );
  const more = cleared.count - cleared.items.length;
  return { count: 0, notes: more > 0 ? [...notes, note('cleared_more', { count: more })] : notes };
}
