import { useEffect, useRef } from 'react';
import { $api, queryClient } from '../api/client.js';
import { type GetAnswer, refresh } from '../api/queries.js';
import type { Shape } from '../api/shape.js';
import { useLive } from '../shell/live.js';
import { addDecimals, compareDecimals, multiplyDecimal, signOf } from '../ui/decimal.js';

export type AccountOverview = GetAnswer<'/api/overview'>;

/** Changes that come together are read together. */
const GATHERING_MS = 500;
const DAYS_LOOKED_AT = 7;
export const DAYS_TO_WARN = 3;
/** A forecast of more days than these says nothing. */
export const DAYS_FORECAST = 60;

/** Days begin where the viewer is. */
const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;

/** The overview, kept current by live updates: balances and progress at once, sums soon after. */
export function useOverview() {
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  useLive((event, data) => {
    const { queryKey } = $api.queryOptions('get', '/api/overview', { params: { query: { zone } } });
    const before = queryClient.getQueryData<AccountOverview>(queryKey);
    if (!before) return;
    const after =
      event === 'balance' ? withBalance(before, data as Balance) : withTask(before, data as Shape<'Task'>);
    if (after === before) return;
    queryClient.setQueryData(queryKey, after);
    if (isProgress(before, after)) return;
    clearTimeout(timer.current);
    timer.current = setTimeout(() => void refresh('/api/overview'), GATHERING_MS);
  });
  return $api.useQuery('get', '/api/overview', { params: { query: { zone } } });
}

type Balance = Pick<AccountOverview['balance'], 'main' | 'held' | 'invite'>;

function withBalance(overview: AccountOverview, update: Balance): AccountOverview {
  const { balance } = overview;
  const isSame = (['main', 'held', 'invite'] as const).every((name) => balance[name] === update[name]);
  return isSame ? overview : { ...overview, balance: { ...balance, ...update } };
}

function isRunning({ state }: Shape<'Task'>): boolean {
  return state === 'queued' || state === 'in_progress';
}

/** Tasks that end leave the list; the newest come first. */
function withTask(overview: AccountOverview, update: Shape<'Task'>): AccountOverview {
  const { running, runningTasks } = overview;
  const known = running.find(({ id }) => id === update.id);
  if (!isRunning(update)) {
    if (!known) return overview;
    return { ...overview, running: running.filter((task) => task !== known), runningTasks: runningTasks - 1 };
  }
  if (!known) return { ...overview, running: [update, ...running], runningTasks: runningTasks + 1 };
  if (known.state === update.state && known.progress === update.progress) return overview;
  return { ...overview, running: running.map((task) => (task === known ? update : task)) };
}

/** Only a task that runs went on; nothing else is to be read. */
function isProgress(before: AccountOverview, after: AccountOverview): boolean {
  return before.balance === after.balance && before.runningTasks === after.runningTasks;
}

/** Whether the balance is below the owner's alert, or will soon be used up. */
export function isLow(overview: AccountOverview, threshold: string | null): boolean {
  const { main } = overview.balance;
  if (signOf(main) <= 0 || (threshold !== null && compareDecimals(main, threshold) < 0)) return true;
  return daysLeft(overview, DAYS_TO_WARN) !== null;
}

/** For how many whole days the balance lasts at the pace of the last week; null: nothing was spent, or it lasts longer. */
export function daysLeft({ balance, days }: AccountOverview, most: number): number | null {
  const week = addDecimals(...days.slice(-DAYS_LOOKED_AT).map(({ spent }) => spent));
  if (signOf(week) <= 0) return null;
  for (let left = 0; left < most; left++) {
    const needed = multiplyDecimal(week, left + 1);
    if (compareDecimals(multiplyDecimal(balance.main, DAYS_LOOKED_AT), needed) < 0) return left;
  }
  return null;
}
