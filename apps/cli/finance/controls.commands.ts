import { type Command, Option } from 'commander';
import type { z } from 'zod';
import { outcomeView } from '#finance/views/controls.view.js';
import { timeOf } from '#finance/views/ledger.view.js';
import { type ControlOutcome, runControls } from '#finance/control-run.js';
import { controls } from '#finance/controls.js';
import { type FindingState, listFindings, findingShape } from '#finance/findings.js';
import { command } from '../command.js';
import { countArgument, secondsArgument, LIMIT_OPTION } from '../arguments.js';
import { onDatabase } from '../database.access.js';
import { type Columns, minute, printJson, printList, printText, right, tableOf } from '../output.js';
import { showProgress } from '../progress.js';
import { shown } from '#platform/http/fields.js';

const GRACE_MS = 300_000;
/** A control may read the whole ledger. */
const LIMIT_MS = 600_000;

export function controlCommands(): Command[] {
  return [checkCommand(), findingsCommand()];
}

function checkCommand(): Command {
  return command('check', 'run the controls of the books now; exits 1 if one has findings')
    .addOption(controlOption('--control <id...>', 'only these'))
    .option('--grace <seconds>', 'how young work in flight may be', secondsArgument, GRACE_MS)
    .option(
      '--report-overdue <hours>',
      'when a report is overdue, in hours after the last one',
      countArgument,
      72,
    )
    .option('--limit <count>', 'maximum number of findings per control', countArgument, 20)
    .addHelpText(
      'after',
      '\nNothing is stored. `tollgate finance findings` shows what the scheduled runs found.',
    )
    .action(check);
}

function findingsCommand(): Command {
  return command('findings', 'findings of the scheduled controls, newest first')
    .addOption(controlOption('--control <id>', 'only of this control'))
    .addOption(new Option('--state <state>').choices(['open', 'resolved', 'all']).default('open'))
    .option(...LIMIT_OPTION)
    .action(printFindings);
}

function controlOption(flags: string, description: string): Option {
  return new Option(flags, description).choices(controls.map(({ id }) => id));
}

async function check(options: {
  control?: string[];
  grace: number;
  reportOverdue: number;
  limit: number;
  json?: boolean;
}): Promise<void> {
  const asked = controls.filter(({ id }) => options.control?.includes(id) ?? true);
  const { horizon, outcomes } = await onDatabase((pool) =>
    runControls(pool, {
      controls: asked,
      graceMs: options.grace,
      limit: options.limit,
      limitMs: LIMIT_MS,
      reportOverdueMs: options.reportOverdue * 3_600_000,
      onProgress: ({ title }) => showProgress(title),
    }),
  );
  showProgress();
  if (outcomes.some(({ result }) => result?.count !== 0)) process.exitCode = 1;
  if (options.json) return printJson({ horizon: timeOf(horizon), controls: outcomes.map(printable) });
  printText([summary(outcomes), ...outcomes.flatMap(found)].join('\n\n'));
}

function printable(outcome: ControlOutcome) {
  const items = (outcome.result?.items ?? []).map((item) => ({
    ...item,
    transactionIds: item.transactionIds.map(String),
  }));
  return { ...outcomeView(outcome), title: outcome.control.title, items };
}

function summary(outcomes: readonly ControlOutcome[]): string {
  return tableOf(outcomes, {
    Control: ({ control }) => control.id,
    What: ({ control }) => control.title,
    Count: right(({ result }) => result?.count),
    Time: right(({ durationMs }) => `${(durationMs / 1000).toFixed(2)} s`),
    Error: ({ error }) => error ?? '',
  });
}

/** The items of a control that is not 0, one per line. */
function found({ control, result }: ControlOutcome): string[] {
  if (!result || result.count === 0) return [];
  const lines = result.items.map(({ subject, state, message, transactionIds }) => {
    const ids = transactionIds.length === 0 ? '' : ` [${transactionIds.join(' ')}]`;
    return `  ${subject} ${state}: ${message}${ids}`;
  });
  const more = result.count - result.items.length;
  return [
    [`${control.title}: ${control.explanation}`, ...lines, ...(more > 0 ? [`  and ${more} more`] : [])].join(
      '\n',
    ),
  ];
}

interface FindingOptions {
  control?: string;
  state: FindingState;
  limit: number;
  json?: boolean;
}

async function printFindings(options: FindingOptions): Promise<void> {
  const { control = null, state, limit } = options;
  const rows = await onDatabase((pool) => {
    return listFindings(pool, { control, state, limit: limit + 1, after: null });
  });
  const items = rows.slice(0, limit).map((row) => shown(findingShape, row));
  const more = rows.length > limit;
  await printList(options, { items, json: { items, more }, table: FINDINGS, none: 'No findings.', more });
}

const FINDINGS: Columns<z.output<typeof findingShape>> = {
  'Since (UTC)': ({ firstSeenAt }) => minute(firstSeenAt),
  Control: 'control',
  Subject: 'subject',
  State: ({ state, resolvedAt }) => (resolvedAt ? `${state}, resolved` : state),
  'Looked at by': ({ acknowledgedBy }) => acknowledgedBy ?? '',
  What: 'message',
};
