import { Command, InvalidArgumentError } from 'commander';
import { benchLedger } from './ledger.bench.js';

function wholeNumber(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('a whole number');
  return Number(text);
}

const program = new Command('npm run bench --').description(
  'Measures Tollgate on this machine beside floors taken in the same run. Figures go to standard output, progress to standard error.',
);

program
  .command('ledger')
  .description('holds per second through the posting engine')
  .option('--seconds <n>', 'time for each measurement', wholeNumber, 5)
  .option('--history <entries>', 'measure again on a ledger of this many entries', wholeNumber, 0)
  .option('--json', 'print one JSON object instead of tables', false)
  .action((options: { seconds: number; history: number; json: boolean }) =>
    benchLedger({ seconds: options.seconds, historyEntries: options.history, json: options.json }),
  );

await program.parseAsync();
