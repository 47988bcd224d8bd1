import { Command, InvalidArgumentError, Option } from 'commander';
import { printTable } from '../bench/report.js';
import { rehearse } from './rehearsal.js';
import { rehearsals } from './rehearsals.js';
import { CannotRunHere, type Result } from './result.js';
import { Undo } from '../support/outages/undo.js';

const names = rehearsals.map(({ name }) => name);
const width = Math.max(...names.map((name) => name.length));
const list = rehearsals.map(({ name, fault }) => `  ${name.padEnd(width)}  ${fault}`).join('\n');

interface Options {
  only: readonly string[];
  json: boolean;
}

const program = new Command('npm run rehearse --')
  .description(
    'Rehearses failovers: starts the programs, sends paid calls at a steady rate, causes one fault, and compares every answer ' +
      'with the books once calls succeed again.',
  )
  .addOption(
    new Option('--only <names>', 'some of them, separated by commas')
      .argParser(namesOf)
      .default(names, 'all'),
  )
  .option('--json', 'print one JSON object instead of a table', false)
  .addHelpText(
    'after',
    `\nRehearsals:\n${list}\n\nResults go to standard output, progress to standard error. Exit codes: 0 all promises held, 1 one did not, 2 one cannot run here, 130 stopped by Ctrl-C.`,
  )
  .action(run);

function namesOf(text: string): string[] {
  const chosen = text.split(',').map((name) => name.trim());
  const unknown = chosen.filter((name) => !names.includes(name));
  if (unknown.length > 0)
    throw new InvalidArgumentError(`There is no ${unknown.join(', ')}; there are ${names.join(', ')}.`);
  return chosen;
}

async function run({ only, json }: Options): Promise<void> {
  const undo = new Undo();
  for (const [signal, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const) {
    process.once(signal, () => void undo.stop().finally(() => process.exit(code)));
  }
  const results: Result[] = [];
  const say = (text: string) => process.stderr.write(`${text}\n`);
  for (const rehearsal of rehearsals.filter(({ name }) => only.includes(name))) {
    const result = await rehearse(rehearsal, { undo, say }).catch((error: Error) => {
      if (!(error instanceof CannotRunHere)) throw error;
      say(`${rehearsal.name} cannot run here: ${error.message}`);
      process.exitCode = 2;
    });
    if (!result) continue;
    results.push(result);
    // Completed rehearsals are reported even if a later one breaks off.
    say(`${result.name}: ${JSON.stringify({ ...result, name: undefined, fault: undefined })}`);
  }
  if (json) process.stdout.write(`${JSON.stringify({ rehearsals: results })}\n`);
  else printResults(results);
  if (results.some(({ faults }) => faults.length > 0)) process.exitCode = 1;
}

function printResults(results: readonly Result[]): void {
  const seconds = (ms: number) => (ms / 1_000).toFixed(1);
  const head = [
    'fault',
    'calls/s',
    'answered',
    'failed',
    'no answer',
    'lost',
    'doubled',
    'held',
    'recovery s',
    'slowest s',
  ];
  const rows = results.map((result) => {
    const { perSecond, answered, failed, unanswered, lost, doubled, held, recoveredMs, slowestMs } = result;
    const counts = [perSecond, answered, failed, unanswered, lost, doubled, held];
    return [result.fault, ...counts.map(String), seconds(recoveredMs), seconds(slowestMs)];
  });
  printTable(head, rows);
  for (const { name, faults } of results)
    for (const fault of faults) process.stdout.write(`${name}: ${fault}\n`);
}

await program.parseAsync();
