import type pg from 'pg';
import { FAULTY_BANK } from '#finance/provider-reports/bank/bank-matching.js';
import { listCoverage } from '#finance/provider-reports/coverage.js';
import { FAULTY } from '#finance/provider-reports/payments/match.js';
import { summariseMatches } from '#finance/provider-reports/payments/payment-matching.js';
import { FAULTY_PAYOUTS } from '#finance/provider-reports/payments/payout-matching.js';
import { viewMatchDay } from '#finance/provider-reports/reconciliation.view.js';
import { FAULTY_WORK, readWorkDays, type WorkRange } from '#finance/reports/charges-tasks.js';
import { inSnapshot } from '#finance/snapshot.js';
import { faultsOf, dayShape } from '#finance/views/charges-tasks.view.js';
import { onDatabase } from '../database.access.js';
import { printJson, printText, table } from '../output.js';
import { shown } from '#platform/http/fields.js';

/** What `finance reconcile` prints. With a fault, the command exits with 1. */

const isFaulty = (state: string): boolean =>
  ([...FAULTY, ...FAULTY_PAYOUTS, ...FAULTY_BANK, ...FAULTY_WORK] as readonly string[]).includes(state);

interface Shown<T, V extends { state: string; message: string }> {
  read: (client: pg.ClientBase, limit: number) => Promise<T[]>;
  view: (item: T) => V;
  row: (view: V) => string[];
  titles: string[];
}

export async function printItems<T, V extends { state: string; message: string }>(
  { limit, json }: { limit: number; json?: boolean },
  { read, view, row, titles }: Shown<T, V>,
): Promise<void> {
  const found = await onSnapshot((client) => read(client, limit + 1));
  const more = found.length > limit;
  const items = found.slice(0, limit).map(view);
  if (items.some(({ state }) => isFaulty(state))) process.exitCode = 1;
  if (json) return printJson({ items, more });
  const columns = [...titles, 'State'];
  const messages = items.filter(({ state }) => isFaulty(state)).map(({ message }) => message);
  const rest = more ? ['There are more: narrow the time, or raise --limit.'] : [];
  printText(
    [
      table(
        columns,
        items.map((item) => [...row(item), item.state]),
      ),
      ...messages,
      ...rest,
    ].join('\n'),
  );
}

export async function printWorkDays(range: WorkRange, { json }: { json?: boolean }): Promise<void> {
  const days = await onSnapshot((client) => readWorkDays(client, range));
  const faults = faultsOf(days);
  if (faults > 0) process.exitCode = 1;
  const views = days.map((day) => shown(dayShape, day));
  if (json) return printJson({ faults, days: views });
  const titles = ['Day', 'State', 'Items', 'Held', 'Settled'];
  printText(
    table(
      titles,
      views.map(({ day, state, items, amount, settled }) => [day, state, String(items), amount, settled]),
    ),
  );
}

export async function printDays(
  query: Parameters<typeof summariseMatches>[1],
  { json }: { json?: boolean },
): Promise<void> {
  const days = (await onSnapshot((client) => summariseMatches(client, query))).map(viewMatchDay);
  if (days.some(({ state }) => isFaulty(state))) process.exitCode = 1;
  if (json) return printJson({ days });
  const titles = ['Day', 'Provider', 'State', 'Items', 'Ours', 'Theirs', 'Unit'];
  const rows = days.map(({ day, provider: by, state, items, ours, theirs, currency }) => [
    day,
    by,
    state,
    String(items),
    ours,
    theirs,
    currency,
  ]);
  printText(table(titles, rows));
}

export async function printCoverage({ json }: { json?: boolean }): Promise<void> {
  const lists = await onSnapshot(listCoverage);
  if (lists.some(({ gaps }) => gaps.length > 0)) process.exitCode = 1;
  if (json) return printJson({ items: lists });
  const rows = lists.flatMap(({ provider: by, bankAccountId, of, covered, gaps }) => {
    const name = bankAccountId === null ? `${by} ${of}` : `${by} ${bankAccountId}`;
    const times = [
      ...covered.map(({ from, to }) => [
        name,
        from === null ? 'the beginning' : minute(from),
        minute(to),
        '',
      ]),
      ...gaps.map(({ from, to }) => [name, minute(from), minute(to), 'no report']),
    ];
    return times.length === 0 ? [[name, '-', '-', 'no report']] : times.sort(byFrom);
  });
  printText(table(['Reports of', 'From (UTC)', 'To', ''], rows));
}

function byFrom([, one = '']: string[], [, other = '']: string[]): number {
  const [first, second] = [one, other].map((from) => (from === 'the beginning' ? '' : from)) as [
    string,
    string,
  ];
  return first < second ? -1 : 1;
}

function onSnapshot<T>(work: (client: pg.ClientBase) => Promise<T>): Promise<T> {
  return onDatabase(process.env, (pool) => inSnapshot(pool, work));
}

export function minute(at: string): string {
  return at.slice(0, 16).replace('T', ' ');
}
