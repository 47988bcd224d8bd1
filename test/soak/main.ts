import { randomInt } from 'node:crypto';
import { Command, InvalidArgumentError } from 'commander';
import { printTable } from '../bench/report.js';
import { Undo } from '../support/outages/undo.js';
import { shrink } from './schedule.js';
import { type Mode, modes, soak, type SoakOptions, type SoakReport } from './soak.js';

interface Options {
  minutes: number;
  seed: number;
  mode: Mode;
  strikes?: readonly number[];
  shrink: number;
  json: boolean;
}

const program = new Command('npm run soak --')
  .description(
    'Simulates customers, drawn from a seed, while programs are killed and lose what they depend on, and compares every answer with the books.',
  )
  .option('--minutes <number>', 'how long', numberOf, 3)
  .option('--seed <number>', 'replays a run: its calls, actions and faults', numberOf, randomInt(2 ** 31))
  .option('--mode <mode>', modes.join(' or '), modeOf, 'standalone')
  .option('--strikes <numbers>', 'only these faults of the seed, from 1, separated by commas', listOf)
  .option('--shrink <runs>', 'after a failure, most runs to find fewer faults that still fail', numberOf, 4)
  .option('--json', 'print one JSON object instead of tables', false)
  .addHelpText(
    'after',
    '\nResults go to standard output, progress to standard error. Exit codes: 0 all promises held, 1 one did not, 130 stopped by Ctrl-C.',
  )
  .action(run);

function numberOf(text: string): number {
  const value = Number(text);
  if (Number.isFinite(value) && value >= 0) return value;
  throw new InvalidArgumentError('A number is needed.');
}

function listOf(text: string): number[] {
  return text.split(',').map(numberOf);
}

function modeOf(text: string): Mode {
  const mode = modes.find((each) => each === text);
  if (!mode) throw new InvalidArgumentError(`There are ${modes.join(' and ')}.`);
  return mode;
}

const say = (text: string) => process.stderr.write(`${text}\n`);

async function run({ minutes, seed, mode, strikes: only, shrink: runs, json }: Options): Promise<void> {
  const undo = new Undo();
  for (const [signal, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const) {
    process.once(signal, () => void undo.stop().finally(() => process.exit(code)));
  }
  const options = { minutes, seed, mode, only };
  const report = await soak(options, { undo, say });
  const failing = report.faults.length > 0 ? await fewestOf(report, { options, undo, runs }) : null;
  const replay = replayOf(options, failing);
  if (json) process.stdout.write(`${JSON.stringify({ ...report, replay })}\n`);
  else print(report, replay);
  if (failing) process.exitCode = 1;
}

/** The fewest strikes with which the run still fails, as far as a few more runs can show. */
async function fewestOf(
  report: SoakReport,
  { options, undo, runs }: { options: SoakOptions; undo: Undo; runs: number },
): Promise<readonly number[]> {
  say(`seed ${report.seed} fails: ${report.faults[0]}`);
  const all = options.only ?? Array.from({ length: report.strikes }, (_, index) => index + 1);
  return shrink(all, {
    runs,
    fails: async (only) => {
      say(`again with ${only.length} of ${all.length} strikes`);
      return (await soak({ ...options, only }, { undo, say })).faults.length > 0;
    },
  });
}

function replayOf({ minutes, seed, mode, only }: SoakOptions, failing: readonly number[] | null): string {
  const strikes = failing ?? only;
  const some = strikes ? ` --strikes ${strikes.join(',')}` : '';
  return `npm run soak -- --minutes ${minutes} --seed ${seed} --mode ${mode}${some}`;
}

function print(report: SoakReport, replay: string): void {
  const { answered, failed, unanswered, lost, doubled, checks, unreached, leftOut, recovery, slowestMs } =
    report;
  const seconds = (ms: number) => (ms / 1_000).toFixed(1);
  printTable(
    ['injected', 'times', 'worst recovery, s'],
    Object.entries(report.injected).map(([what, times]) => [
      what,
      String(times),
      seconds(recovery.worstMsOf[what] ?? 0),
    ]),
  );
  for (const { what, why, strikes } of report.missing)
    process.stdout.write(`Not possible here: ${what} (${strikes} strikes): ${why}\n`);
  printTable(
    ['deed', 'done', 'refused'],
    Object.entries(report.deeds).map(([kind, { done, refused }]) => [kind, String(done), String(refused)]),
  );
  const counts = {
    answered,
    failed,
    'no answer': unanswered,
    lost,
    doubled,
    checks,
    'points not reached': unreached,
    'strikes left out for lack of time': leftOut,
  };
  printTable(
    ['result', ''],
    [
      ...rowsOf(counts),
      ['recovery, mean s', seconds(recovery.meanMs)],
      [`recovery, worst s (${recovery.worst})`, seconds(recovery.worstMs)],
      ['slowest call, s', seconds(slowestMs)],
    ],
  );
  for (const fault of report.faults) process.stdout.write(`${fault}\n`);
  process.stdout.write(`Replay: ${replay}\n`);
}

function rowsOf(counts: Record<string, number>): string[][] {
  return Object.entries(counts).map(([name, count]) => [name, String(count)]);
}

await program.parseAsync().catch((error: Error) => {
  say(error.stack ?? error.message);
  process.exitCode = 1;
});
