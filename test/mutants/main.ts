import { Command, InvalidArgumentError, Option } from 'commander';
import { printTable } from '../bench/report.js';
import { Hunt, type Hunted } from './hunt.js';
import { mutants } from './mutants.js';

interface Options {
  only: readonly string[];
  copies: number;
  list: boolean;
  json: boolean;
}

const ids = mutants.map(({ id }) => id);

const program = new Command('npm run mutants --')
  .description(
    'Plants small faults in money code, one at a time, each in a copy of the sources, and runs the spec that must find it.',
  )
  .addOption(
    new Option('--only <ids>', 'some of them, separated by commas').argParser(idsOf).default(ids, 'all'),
  )
  .option('--copies <number>', 'how many specs run at the same time', countOf, 2)
  .option('--list', 'print the faults and run nothing', false)
  .option('--json', 'print one JSON object instead of a table', false)
  .addHelpText(
    'after',
    '\nResults go to standard output, progress to standard error. Exit codes: 0 all were found, 1 one was not, 130 stopped by Ctrl-C.',
  )
  .action(run);

function idsOf(text: string): string[] {
  const chosen = text.split(',').map((id) => id.trim());
  const unknown = chosen.filter((id) => !ids.includes(id));
  if (unknown.length > 0)
    throw new InvalidArgumentError(`There is no ${unknown.join(', ')}; --list prints them.`);
  return chosen;
}

function countOf(text: string): number {
  const count = Number(text);
  if (Number.isInteger(count) && count >= 1 && count <= 16) return count;
  throw new InvalidArgumentError('A whole number from 1 to 16 is needed.');
}

async function run({ only, copies, list, json }: Options): Promise<void> {
  const chosen = mutants.filter(({ id }) => only.includes(id));
  if (list) {
    for (const { id, fault, file } of chosen) process.stdout.write(`${id.padEnd(30)}${fault} (${file})\n`);
    return;
  }
  const hunt = new Hunt({
    copies: Math.min(copies, chosen.length),
    say: (text) => process.stderr.write(`${text}\n`),
  });
  stopOnSignals(hunt);
  const hunted = await hunt.run(chosen).finally(() => hunt.stop());
  const survived = hunted.filter(({ outcome }) => outcome !== 'found');
  if (json) process.stdout.write(`${JSON.stringify(summaryOf(hunted))}\n`);
  else print(hunted);
  if (survived.length > 0) process.exitCode = 1;
}

function stopOnSignals(hunt: Hunt): void {
  for (const [signal, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const) {
    process.once(signal, () => void hunt.stop().finally(() => process.exit(code)));
  }
}

function summaryOf(hunted: readonly Hunted[]) {
  const count = (wanted: Hunted['outcome']) => hunted.filter(({ outcome }) => outcome === wanted).length;
  return { found: count('found'), survived: count('survived'), broken: count('broken'), mutants: hunted };
}

function print(hunted: readonly Hunted[]): void {
  const rows = hunted.map(({ fault, spec, outcome, seconds }) => [fault, spec, outcome, String(seconds)]);
  printTable(['fault', 'spec', 'outcome', 's'], rows);
  for (const { id, why } of hunted) if (why !== null) process.stdout.write(`${id}: ${why}\n`);
  const { found } = summaryOf(hunted);
  process.stdout.write(`${found} of ${hunted.length} faults were found.\n`);
}

await program.parseAsync().catch((error: Error) => {
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 1;
});
