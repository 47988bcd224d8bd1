import type pg from 'pg';
import { viewAmount } from '#platform/http/fields.js';
import { ACCOUNT_TASKS, type AccountTask } from '#usage/task.reader.js';
import { type AccountTaskView, viewTask } from '../tasks/task.view.js';

/** The newest tasks of an account are watched, and all that are still running. */
const NEWEST = 20;
const MOST_RUNNING = 200;

export interface WatchedAccount {
  accountId: string;
  /** Tasks that were running at the last look. Their end must be reported even if they are no longer among the newest. */
  running: readonly string[];
}

export interface AccountState {
  balance: { main: string; held: string; invite: string };
  tasks: AccountTaskView[];
}

interface BalanceRow {
  accountId: string;
  main: bigint;
  held: bigint;
  invite: bigint;
}

/** The current state of many accounts, by two queries however many there are. */
export async function readAccountStates(
  pool: pg.Pool,
  watched: readonly WatchedAccount[],
  nowMs: number,
): Promise<Map<string, AccountState>> {
  const ids = watched.map(({ accountId }) => accountId);
  const balances = await pool.query<BalanceRow>({
    name: 'live-balances',
    text: `SELECT account_id AS "accountId", main, held, invite FROM customer_balances WHERE account_id = ANY ($1)`,
    values: [ids],
  });
  const tasks = await pool.query<AccountTask>({
    name: 'live-tasks',
    text: TASKS,
    values: [ids, watched.flatMap(({ running }) => running)],
  });
  const states = new Map<string, AccountState>();
  for (const { accountId, main, held, invite } of balances.rows) {
    const balance = { main: viewAmount(main), held: viewAmount(held), invite: viewAmount(invite) };
    states.set(accountId, { balance, tasks: [] });
  }
  for (const task of tasks.rows) states.get(task.accountId)?.tasks.push(viewTask(task, nowMs));
  return states;
}

/** Those that run have an index of their own, by account. */
const TASKS = `WITH wanted AS (
    SELECT newest.id FROM unnest($1::text[]) AS account (id) CROSS JOIN LATERAL (
      SELECT t.id FROM tasks t WHERE t.account_id = account.id
      ORDER BY t.account_id DESC, t.id DESC LIMIT ${NEWEST}) AS newest
    UNION SELECT running.id FROM unnest($1::text[]) AS account (id) CROSS JOIN LATERAL (
      SELECT t.id FROM tasks t WHERE t.account_id = account.id
        AND t.state IN ('created', 'submitting', 'submitted', 'unknown') LIMIT ${MOST_RUNNING}) AS running
    UNION SELECT unnest($2::text[]))
  ${ACCOUNT_TASKS} JOIN wanted w ON w.id = t.id WHERE t.state <> 'refused' ORDER BY t.id`;
