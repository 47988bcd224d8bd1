import { Command, InvalidArgumentError, Option } from 'commander';
import { benchBodies, type BodiesBenchOptions } from './bodies.bench.js';
import { benchCompare, type CompareBenchOptions } from './compare.bench.js';
import { benchConsole, type ConsoleBenchOptions } from './console.bench.js';
import { benchFinance, type FinanceBenchOptions } from './finance.bench.js';
import { benchGateway, type GatewayBenchOptions } from './gateway.bench.js';
import { benchLedger } from './ledger.bench.js';
import { benchPolling, type PollingBenchOptions } from './polling.bench.js';
import { benchScale, type ScaleBenchOptions } from './scale.bench.js';
import { benchStrangers, type StrangersBenchOptions } from './strangers.bench.js';
import { benchStreams, type StreamBenchOptions } from './stream.bench.js';

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
  .option(
    '--account-history <entries>',
    'measure one account with limits and this many entries',
    wholeNumber,
    0,
  )
  .option('--json', 'print one JSON object instead of tables', false)
  .action((options: { seconds: number; history: number; accountHistory: number; json: boolean }) => {
    const { seconds, history: historyEntries, accountHistory: accountEntries, json } = options;
    return benchLedger({ seconds, historyEntries, accountEntries, json });
  });

program
  .command('finance')
  .description('reports, exports, the hash chain and the loops of the finance service on a large ledger')
  .option('--entries <n>', 'of the ledger that is generated', wholeNumber, 10_000_000)
  .option('--accounts <n>', 'customers that it has', wholeNumber, 10_000)
  .option('--seconds <n>', 'time for each measurement of posting', wholeNumber, 10)
  .option('--keep <folder>', 'leave the generated ledger there, and take it from there the next time')
  .option('--json', 'print one JSON object instead of tables', false)
  .action((options: FinanceBenchOptions) => benchFinance(options));

program
  .command('scale')
  .description(
    'postings, a report, checks and VACUUM on a new ledger, a month of history, and ten months of it',
  )
  .option('--entries <n>', 'of the ledger of ten months', wholeNumber, 100_000_000)
  .option('--accounts <n>', 'customers that it has', wholeNumber, 10_000)
  .option('--seconds <n>', 'of postings in each round', wholeNumber, 10)
  .option('--rounds <n>', 'of which the middle one counts', wholeNumber, 3)
  .option('--keep <folder>', 'leave the generated ledgers there, and take them from there the next time')
  .option('--json', 'print one JSON object instead of a table', false)
  .action((options: ScaleBenchOptions) => benchScale(options));

program
  .command('gateway')
  .description('billed image calls through the relay, against an upstream that answers at once')
  .addOption(
    new Option('--mode <mode>', 'how the relay runs')
      .choices(['standalone', 'kafka', 'both'])
      .default('standalone'),
  )
  .option('--seconds <n>', 'time for each measurement', wholeNumber, 8)
  .option('--rate <n>', 'requests per second while latency is measured', wholeNumber, 200)
  .option('--accounts <n>', 'customers that the calls are spread over', wholeNumber, 64)
  .option('--json', 'print one JSON object instead of tables', false)
  .action((options: GatewayBenchOptions) => benchGateway(options));

program
  .command('compare')
  .description('billed images through the relay of this commit and of another one, in turns')
  .requiredOption('--ref <commit>', 'the other one; it is installed and built beside this one')
  .addOption(
    new Option('--mode <mode>', 'how the relays run').choices(['standalone', 'kafka']).default('standalone'),
  )
  .option('--rounds <n>', 'of which the middle one counts', wholeNumber, 5)
  .option('--seconds <n>', 'time for each measurement', wholeNumber, 5)
  .option('--accounts <n>', 'customers that the calls are spread over', wholeNumber, 16)
  .option('--json', 'print one JSON object instead of a table', false)
  .action((options: CompareBenchOptions) => benchCompare(options));

program
  .command('streams')
  .description(
    'billed chat streams through the relay: first byte, cost of an event, memory while many are open',
  )
  .addOption(
    new Option('--mode <mode>', 'how the relay runs').choices(['standalone', 'kafka']).default('standalone'),
  )
  .option('--samples <n>', 'streams for each measurement of the first byte', wholeNumber, 800)
  .option('--events <n>', 'events of a long stream', wholeNumber, 20_000)
  .option('--open <n>', 'streams open at once while memory is watched', wholeNumber, 500)
  .option('--seconds <n>', 'how long they are open', wholeNumber, 30)
  .option('--json', 'print one JSON object instead of tables', false)
  .action((options: StreamBenchOptions) => benchStreams(options));

program
  .command('polling')
  .description('thousands of running videos: how soon an end is noticed, connections, polls, processor time')
  .addOption(
    new Option('--mode <mode>', 'how the relay runs').choices(['standalone', 'kafka']).default('standalone'),
  )
  .option('--running <n>', 'tasks that run throughout the first measurement', wholeNumber, 5_000)
  .option('--finishing <n>', 'tasks that end at random moments of it', wholeNumber, 1_000)
  .option('--seconds <n>', 'time for each of the two measurements', wholeNumber, 60)
  .option('--latency <ms>', 'added to each round trip to the upstream', wholeNumber, 0)
  .option('--json', 'print one JSON object instead of tables', false)
  .action((options: PollingBenchOptions) => benchPolling(options));

program
  .command('bodies')
  .description('the worst bodies of strangers: how long somebody else waits for the models meanwhile')
  .option('--seconds <n>', 'time for each attack', wholeNumber, 4)
  .option('--limit <ms>', 'the longest wait that is allowed', wholeNumber, 250)
  .option('--json', 'print one JSON object instead of tables', false)
  .action((options: BodiesBenchOptions) => benchBodies(options));

program
  .command('console')
  .description(
    'pages over a long usage log in Chromium: time to interactive, memory in an hour of live updates',
  )
  .option('--rows <n>', 'of the usage log', wholeNumber, 1_000_000)
  .option('--samples <n>', 'openings of each page, of which the median counts', wholeNumber, 5)
  .option('--updates <n>', 'live updates, one for each second of the page', wholeNumber, 3_600)
  .option('--json', 'print one JSON object instead of tables', false)
  .action((options: ConsoleBenchOptions) => benchConsole(options));

program
  .command('strangers')
  .description('honest customers beside hostile ones: their p99, and whether they meet a fault')
  .option('--seconds <n>', 'time for each of the two measurements', wholeNumber, 15)
  .option('--rate <n>', 'requests per second of the honest customers together', wholeNumber, 20)
  .option('--seed <n>', 'of what the hostile ones do', wholeNumber, 1)
  .option('--json', 'print one JSON object instead of tables', false)
  .action((options: StrangersBenchOptions) => benchStrangers(options));

await program.parseAsync();
