import type { Command } from 'commander';
import type { z } from 'zod';
import { timeOf } from '#finance/views/ledger.view.js';
import { balancesOfPeriod, viewPeriod, viewWaiver } from '#finance/periods/periods.view.js';
import { inEnglish } from '#finance/periods/checklist-note.js';
import { catchUp } from '#finance/periods/catch-up.js';
import {
  type ChecklistItem,
  findPeriod,
  listLatePostings,
  listPeriods,
  type Period,
  lateView,
} from '#finance/periods/period.js';
import { checkPeriod } from '#finance/periods/period-check.js';
import { closePeriod, CloseRefused } from '#finance/periods/period-close.js';
import { auditClose } from '#finance/periods/period.service.js';
import { waiversOf } from '#finance/periods/waiver.js';
import { OperatorError } from '#platform/errors.js';
import { newId } from '#platform/ids.js';
import { createLogger } from '#platform/logging.js';
import { command } from '../command.js';
import { AS_OPTION, type Acting, operatorOf } from '../acting.js';
import {
  countArgument,
  periodArgument,
  secondsArgument,
  timeArgument,
  paymentCurrency,
} from '../arguments.js';
import { onDatabase } from '../database.access.js';
import {
  type Columns,
  facts,
  firstItems,
  printJson,
  printList,
  printText,
  right,
  tableOf,
} from '../output.js';
import { showProgress } from '../progress.js';
import { shown } from '#platform/http/fields.js';

/** A question of the checklist may read the whole ledger. */
const LIMIT_MS = 600_000;

const NOTES = `
A period can end at any instant, usually at the start of a UTC month. Closing is permanent: facts that arrive later are
posted in the current period, with a link. Request waivers in the console, where another person approves them; a close uses
the waivers agreed on for its end.

Examples:
  tollgate finance periods check --end 2026-02-01
  tollgate finance periods waivers --end 2026-02-01
  tollgate finance periods close --end 2026-02-01
  tollgate finance periods show 3`;

export function periodsCommand(): Command {
  const periods = command('periods', 'accounting periods').addHelpText('after', NOTES);
  command('list', 'closed periods and attempts to close, newest first', periods)
    .option('--limit <count>', 'at most this many', countArgument, 24)
    .action(list);
  command('show', 'one period with its checklist, trial balance and late postings', periods)
    .argument('<period>', 'its number', periodArgument)
    .action(show);
  addClosing(periods);
  return periods;
}

function addClosing(periods: Command): void {
  endOptions(periods.command('check'))
    .description('run the checklist of a close without changing anything; exits 1 if something is red')
    .option(
      '--grace <seconds>',
      'treat work younger than this as in progress, only for this check',
      secondsArgument,
    )
    .action(check);
  endOptions(periods.command('waivers'))
    .description('waivers that two people agreed on, for the period that ends then')
    .action(printWaivers);
  endOptions(periods.command('close'))
    .description('close the books permanently up to an instant; exits 1 if something is red')
    .option('--note <text>', 'a note for the record')
    .option('--margin <seconds>', 'minimum time since the end of the period', secondsArgument, 60_000)
    .option('--wait <seconds>', 'how long to wait for earlier transactions', secondsArgument, 30_000)
    .option('--request-id <id>', 'an id of your own; repeat it to continue the same close')
    .option(...AS_OPTION)
    .action(close);
}

function endOptions(command: Command): Command {
  return command.requiredOption('--end <time>', 'the first instant after the period', timeArgument);
}

async function list(options: { limit: number; json?: boolean }): Promise<void> {
  const { limit } = options;
  const found = await onDatabase((pool) => listPeriods(pool, { limit, beforeId: null }));
  const items = found.slice(0, limit).map(viewPeriod);
  const more = found.length > limit;
  await printList(options, {
    items,
    json: { items, more },
    more,
    table: {
      Period: 'id',
      From: ({ startsAt }) => startsAt ?? 'the beginning',
      To: 'endsAt',
      State: 'state',
      Late: 'latePostings',
      By: 'closedBy',
    },
    none: 'No period has been closed yet.',
  });
}

const LATE_SHOWN = 1_000;

async function show(id: bigint, options: { json?: boolean }): Promise<void> {
  const { period, balances, found } = await onDatabase(async (pool) => {
    const found = await findPeriod(pool, id);
    if (!found) throw new OperatorError(`There is no period ${id}.`);
    return {
      period: found,
      balances: await balancesOfPeriod(pool, id, paymentCurrency()),
      found: await listLatePostings(pool, { periodId: id, limit: LATE_SHOWN, afterId: null }),
    };
  });
  const { items, more } = firstItems(found, LATE_SHOWN);
  const late = items.map((each) => shown(lateView, each));
  if (options.json) return printJson({ ...viewPeriod(period), balances, late, moreLate: more });
  const parts = [periodText(period)];
  if (balances.length > 0)
    parts.push(tableOf(balances, { Account: 'code', Balance: right('balance'), Unit: 'unit' }));
  if (late.length > 0) parts.push(`Late postings:\n${tableOf(late, LATE)}`);
  if (more) parts.push(`There are more late postings than these ${LATE_SHOWN}. The console shows them all.`);
  printText(parts.join('\n\n'));
}

const LATE: Columns<z.output<typeof lateView>> = {
  Transaction: 'transactionId',
  Happened: 'happenedAt',
  Recorded: 'recordedAt',
  What: 'kind',
  Reference: 'reference',
};

interface EndOptions {
  end: Date;
  json?: boolean;
}

async function check({ end, grace, json }: EndOptions & { grace?: number }): Promise<void> {
  const limits = { limitMs: LIMIT_MS, ...(grace === undefined ? {} : { graceMs: grace }) };
  const { at, checklist, graceMs, closeGraceMs } = await onDatabase((pool) =>
    checkPeriod(pool, { end, ...limits, onProgress: (step) => showProgress(inEnglish(step)) }),
  );
  showProgress();
  const ok = checklist.every(({ state }) => state !== 'failed');
  if (!ok) process.exitCode = 1;
  const graces = { graceSeconds: graceMs / 1000, closeGraceSeconds: closeGraceMs / 1000 };
  if (json) return printJson({ at: timeOf(at), ok, ...graces, checklist });
  const whatIf = `Work younger than ${graces.graceSeconds} s counts as in progress here; a close uses ${graces.closeGraceSeconds} s.`;
  printText(`${graceMs === closeGraceMs ? '' : `${whatIf}\n\n`}${checklistText(checklist)}`);
}

async function printWaivers({ end, json }: EndOptions): Promise<void> {
  const found = await onDatabase((pool) => waiversOf(pool, end));
  const items = found.map(viewWaiver);
  const columns: Columns<(typeof items)[number]> = {
    Item: 'item',
    'Up to': right('count'),
    Reason: 'reason',
    Asked: 'requestedBy',
    Agreed: 'approvedBy',
  };
  await printList({ json }, { items, json: { items }, table: columns, none: 'Nothing was waived.' });
}

interface CloseOptions extends EndOptions, Acting {
  note?: string;
  margin: number;
  wait: number;
  requestId?: string;
}

async function close(options: CloseOptions): Promise<void> {
  const { end, note = null, requestId = newId() } = options;
  const log = createLogger('tollgate', process.env['LOG_LEVEL'] ?? 'error');
  const period = await onDatabase(async (pool) => {
    const { by: actor } = await operatorOf(pool, options, ['finance']);
    const limits = {
      marginMs: options.margin,
      waitMs: options.wait,
      limitMs: LIMIT_MS,
    };
    const closed = await closePeriod(
      pool,
      { end, note, actor, requestId },
      { ...limits, catchUp: () => catchUp(pool, { log }), onProgress: (words) => showProgress(words) },
    ).catch(inPlainWords);
    await auditClose(pool, closed, null);
    return closed;
  });
  showProgress();
  if (period.state !== 'closed') process.exitCode = 1;
  if (options.json) return printJson(viewPeriod(period));
  printText(periodText(period));
}

function inPlainWords(error: unknown): never {
  if (error instanceof CloseRefused) throw new OperatorError(error.message);
  throw error;
}

function periodText(period: Period): string {
  const view = viewPeriod(period);
  const pairs: [string, string][] = [
    ['Period', `${view.id}, ${view.state}`],
    ['Time', `${view.startsAt ?? 'the beginning'} to ${view.endsAt}`],
    ['By', view.closedBy],
  ];
  if (view.graceSeconds !== null) pairs.push(['Grace', `${view.graceSeconds} s`]);
  if (view.abandonedReason !== null) pairs.push(['Abandoned', view.abandonedReason]);
  if (view.recordedBefore !== null) pairs.push(['Recorded before', view.recordedBefore]);
  if (view.balancesHash !== null) pairs.push(['Balances sha256', view.balancesHash]);
  return [facts(pairs), ...(period.checklist.length > 0 ? [checklistText(period.checklist)] : [])].join(
    '\n\n',
  );
}

/** Items whose text says something even if nothing is wrong: the person who closes should see what was cleared since the end. */
const SHOWN_WITHOUT_COUNT = ['suspense-cleared', 'done-alone'];

function checklistText(checklist: readonly ChecklistItem[]): string {
  return tableOf(checklist, {
    Item: 'id',
    State: 'state',
    Count: right('count'),
    What: ({ id, count, title, reason, message }) =>
      count === 0 && !SHOWN_WITHOUT_COUNT.includes(id) ? title : (reason ?? message),
  });
}
