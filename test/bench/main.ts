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
import { benchTraces, type TracesBenchOptions } from './traces.bench.js';

function wholeNumber(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('a whole number');
  return Number(text);
}

const program = new Command('npm run bench --').description(
  'Measures Tollgate on this machine beside floors taken in the same run. Figures go to standard output, progress to standard error.',
);

/** A benchmark's command, with the option that all of them have. */
function bench(name: string, description: string): Command {
  const asJson = 'print one JSON object instead of tables';
  return program.command(name).description(description).option('--json', asJson, false);
}

/** How a benchmark runs the relay. The first mode is the default. */
function modeOption(modes: readonly string[] = ['standalone', 'kafka']): Option {
  return new Option('--mode <mode>', 'how the relay runs').choices(modes).default(modes[0]);
}

bench('ledger', 'holds per second through the posting engine')
  .option('--seconds <n>', 'time for each measurement', wholeNumber, 5)
  .option('--history <entries>', 'measure again on a ledger of this many entries', wholeNumber, 0)
  .option(
    '--account-history <entries>',
    'measure one account with limits and this many entries',
    wholeNumber,
    0,
  )
  .action((options: { seconds: number; history: number; accountHistory: number; json: boolean }) => {
    const { seconds, history: historyEntries, accountHistory: accountEntries, json } = options;
    return benchLedger({ seconds, historyEntries, accountEntries, json });
  });

bench('finance', 'reports, exports, the hash chain and the loops of the finance service on a large ledger')
  .option('--entries <n>', 'of the ledger that is generated', wholeNumber, 10_000_000)
  .option('--accounts <n>', 'customers that it has', wholeNumber, 10_000)
  .option('--seconds <n>', 'time for each measurement of posting', wholeNumber, 10)
  .option('--keep <folder>', 'leave the generated ledger there, and take it from there the next time')
  .action((options: FinanceBenchOptions) => benchFinance(options));

bench(
  'scale',
  'postings, a report, checks and VACUUM on a new ledger, a month of history, and ten months of it',
)
  .option('--entries <n>', 'of the ledger of ten months', wholeNumber, 100_000_000)
  .option('--accounts <n>', 'customers that it has', wholeNumber, 10_000)
  .option('--seconds <n>', 'of postings in each round', wholeNumber, 10)
  .option('--rounds <n>', 'of which the middle one counts', wholeNumber, 3)
  .option('--keep <folder>', 'leave the generated ledgers there, and take them from there the next time')
  .action((options: ScaleBenchOptions) => benchScale(options));

bench('gateway', 'billed image calls through the relay, against an upstream that answers at once')
  .addOption(modeOption(['standalone', 'kafka', 'both']))
  .option('--seconds <n>', 'time for each measurement', wholeNumber, 8)
  .option('--rate <n>', 'requests per second while latency is measured', wholeNumber, 200)
  .option('--accounts <n>', 'customers that the calls are spread over', wholeNumber, 64)
  .action((options: GatewayBenchOptions) => benchGateway(options));

bench('compare', 'billed images through the relay of this commit and of another one, in turns')
  .requiredOption('--ref <commit>', 'the other one; it is installed and built beside this one')
  .addOption(modeOption())
  .option('--starts <n>', 'how often both are restarted; two starts of one commit differ', wholeNumber, 1)
  .option('--rounds <n>', 'of each start; the middle one of all counts', wholeNumber, 5)
  .option('--seconds <n>', 'time for each measurement', wholeNumber, 5)
  .option('--accounts <n>', 'customers that the calls are spread over', wholeNumber, 16)
  .option(
    '--traces <part>',
    'this commit records that part of calls, 0 to 1; with --ref HEAD, what that costs',
  )
  .action((options: CompareBenchOptions) => benchCompare(options));

bench(
  'streams',
  'billed chat streams through the relay: first byte, cost of an event, memory while many are open',
)
  .addOption(modeOption())
  .option('--samples <n>', 'streams for each measurement of the first byte', wholeNumber, 800)
  .option('--events <n>', 'events of a long stream', wholeNumber, 20_000)
  .option('--open <n>', 'streams open at once while memory is watched', wholeNumber, 500)
  .option('--seconds <n>', 'how long they are open', wholeNumber, 30)
  .action((options: StreamBenchOptions) => benchStreams(options));

bench(
  'polling',
  'thousands of running videos: how soon an end is noticed, connections, polls, processor time',
)
  .addOption(modeOption())
  .option('--running <n>', 'tasks that run throughout the first measurement', wholeNumber, 5_000)
  .option('--finishing <n>', 'tasks that end at random moments of it', wholeNumber, 1_000)
  .option('--seconds <n>', 'time for each of the two measurements', wholeNumber, 60)
  .option('--latency <ms>', 'added to each round trip to the upstream', wholeNumber, 0)
  .action((options: PollingBenchOptions) => benchPolling(options));

bench('bodies', 'the worst bodies of strangers: how long somebody else waits for the models meanwhile')
  .option('--seconds <n>', 'time for each attack', wholeNumber, 4)
  .option('--limit <ms>', 'the longest wait that is allowed', wholeNumber, 250)
  .action((options: BodiesBenchOptions) => benchBodies(options));

bench(
  'console',
  'pages over a long usage log in Chromium: time to interactive, presses to paints, memory in an hour of live updates',
)
  .option('--rows <n>', 'of the usage log', wholeNumber, 1_000_000)
  .option('--samples <n>', 'openings of each page, of which the median counts', wholeNumber, 5)
  .option('--updates <n>', 'live updates, one for each second of the page', wholeNumber, 3_600)
  .action((options: ConsoleBenchOptions) => benchConsole(options));

bench(
  'traces',
  'processor time of the spans of a call: off, left out, one in twenty and all of them recorded',
)
  .option('--rounds <n>', 'of which the middle one counts', wholeNumber, 5)
  .option('--calls <n>', 'of each measurement', wholeNumber, 10_000)
  .action((options: TracesBenchOptions) => benchTraces(options));

bench('strangers', 'honest customers beside hostile ones: their p99, and whether they meet a fault')
  .option('--seconds <n>', 'time for each of the two measurements', wholeNumber, 15)
  .option('--rate <n>', 'requests per second of the honest customers together', wholeNumber, 20)
  .option('--seed <n>', 'of what the hostile ones do', wholeNumber, 1)
  .action((options: StrangersBenchOptions) => benchStrangers(options));

await program.parseAsync();
