import { FAULTY_BANK } from '#finance/provider-reports/bank/bank-matching.js';
import { listCoverage } from '#finance/provider-reports/coverage.js';
import { FAULTY } from '#finance/provider-reports/payments/match.js';
import { summariseMatches } from '#finance/provider-reports/payments/payment-matching.js';
import { FAULTY_PAYOUTS } from '#finance/provider-reports/payments/payout-matching.js';
import { viewMatchDay } from '#finance/provider-reports/reconciliation.view.js';
import { FAULTY_WORK, readWorkDays, type WorkRange, dayShape } from '#finance/reports/charges-tasks.js';
import { faultsOf } from '#finance/views/charges-tasks.view.js';
import { onSnapshot } from '../database.access.js';
import { type Columns, minute, printJson, printList, printText, table, tableOf } from '../output.js';
import { shown } from '#platform/http/fields.js';

/** What `finance reconcile` prints. With a fault, the command exits with 1. */

const isFaulty = (state: string): boolean =>
  ([...FAULTY, ...FAULTY_PAYOUTS, ...FAULTY_BANK, ...FAULTY_WORK] as readonly string[]).includes(state);

interface Checked {
  state: string;
  message: string;
}

export function printItems<V extends Checked>(
  { items, more }: { items: readonly V[]; more: boolean },
  columns: Columns<V>,
  { json }: { json?: boolean },
): void {
  const faulty = items.filter(({ state }) => isFaulty(state));
  if (faulty.length > 0) process.exitCode = 1;
  if (json) return printJson({ items, more });
  const rest = more ? ['There are more: narrow the time, or raise --limit.'] : [];
  const shownItems = tableOf(items, { ...columns, State: ({ state }) => state });
  printText([shownItems, ...faulty.map(({ message }) => message), ...rest].join('\n'));
}

export async function printWorkDays(range: WorkRange, options: { json?: boolean }): Promise<void> {
  const days = await onSnapshot((client) => readWorkDays(client, range));
  const faults = faultsOf(days);
  if (faults > 0) process.exitCode = 1;
  const views = days.map((day) => shown(dayShape, day));
  await printList(options, {
    items: views,
    json: { faults, days: views },
    table: { Day: 'day', State: 'state', Items: 'items', Held: 'amount', Settled: 'settled' },
  });
}

export async function printDays(
  query: Parameters<typeof summariseMatches>[1],
  options: { json?: boolean },
): Promise<void> {
  const days = (await onSnapshot((client) => summariseMatches(client, query))).map(viewMatchDay);
  if (days.some(({ state }) => isFaulty(state))) process.exitCode = 1;
  const columns: Columns<(typeof days)[number]> = {
    Day: 'day',
    Provider: 'provider',
    State: 'state',
    Items: 'items',
    Ours: 'ours',
    Theirs: 'theirs',
    Unit: 'currency',
  };
  await printList(options, { items: days, json: { days }, table: columns });
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
