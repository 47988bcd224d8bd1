import { useEffect, useRef } from 'react';
import { type GetAnswer, keepAnswer, queryClient, refresh, type Shape, useRead } from '../api/client.js';
import { useLive } from '../shell/live.js';
import { addDecimals, compareDecimals, multiplyDecimal, signOf } from '../ui/decimal.js';

export type AccountOverview = GetAnswer<'/api/overview'>;

/** Changes within this time are read together. */
const GATHERING_MS = 500;
const DAYS_LOOKED_AT = 7;
export const DAYS_TO_WARN = 3;
/** Longer forecasts would be meaningless. */
export const DAYS_FORECAST = 60;

/** Days begin in the viewer's time zone. */
const ofZone = { query: { zone: Intl.DateTimeFormat().resolvedOptions().timeZone } };

/** Live updates change balances and progress at once; sums follow soon after. */
export function useOverview() {
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  useLive((event, data) => {
    const before = queryClient.getQueryData<AccountOverview>(['get', '/api/overview', ofZone]);
    if (!before) return;
    const after =
      event === 'balance' ? withBalance(before, data as Balance) : withTask(before, data as Shape<'Task'>);
    if (after === before) return;
    keepAnswer('/api/overview', ofZone, after);
    if (isProgress(before, after)) return;
    clearTimeout(timer.current);
    timer.current = setTimeout(() => void refresh('/api/overview'), GATHERING_MS);
  });
  return useRead('/api/overview', ofZone);
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

/** Ended tasks leave the list; the newest come first. */
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

/** Only the progress of a running task changed, so nothing is reread. */
function isProgress(before: AccountOverview, after: AccountOverview): boolean {
  return before.balance === after.balance && before.runningTasks === after.runningTasks;
}

/** Below the owner's alert, or soon used up. */
export function isLow(overview: AccountOverview, threshold: string | null): boolean {
  const { main } = overview.balance;
  if (signOf(main) <= 0 || (threshold !== null && compareDecimals(main, threshold) < 0)) return true;
  return daysLeft(overview, DAYS_TO_WARN) !== null;
}

/** How many days the balance lasts at last week's pace; null: longer than `most`, or nothing was spent. */
export function daysLeft({ balance, days }: AccountOverview, most: number): number | null {
  const week = addDecimals(...days.slice(-DAYS_LOOKED_AT).map(({ spent }) => spent));
  if (signOf(week) <= 0) return null;
  for (let left = 0; left < most; left++) {
    const needed = multiplyDecimal(week, left + 1);
    if (compareDecimals(multiplyDecimal(balance.main, DAYS_LOOKED_AT), needed) < 0) return left;
  }
  return null;
}
