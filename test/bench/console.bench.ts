import { openBrowser } from '../console/support/browser.js';
import { withChildren } from './children.js';
import { measureClicks } from './console-bench.clicks.js';
import { measureLive } from './console-bench.live.js';
import { measureFloors, measurePages } from './console-bench.pages.js';
import { startConsoleRelay } from './console-bench.relay.js';
import { type Figure, rowOf, told } from './finance.bench.js';
import { printTable } from './report.js';

/** The console in a browser, with a long usage log: each figure beside its target, with floors from the same run. */
export interface ConsoleBenchOptions {
  /** Rows of the usage log, all of one account. */
  rows: number;
  /** How often each page is opened. The median counts. */
  samples: number;
  /** Live updates, one per second of the page's clock. */
  updates: number;
  json: boolean;
}

/** Runs the benchmark and prints the results. */
export function benchConsole(options: ConsoleBenchOptions): Promise<void> {
  return withChildren(async (children) => {
    const relay = await startConsoleRelay(options.rows, children);
    const browser = await openBrowser();
    const figures: Figure[] = [];
    try {
      figures.push(...(await measureFloors(browser, relay, options.samples)).map(told));
      figures.push(...(await measurePages(browser, relay, options.samples)).map(told));
      figures.push(...(await measureClicks(browser, relay, options.samples)).map(told));
      figures.push(...(await measureLive(browser, relay, options.updates)).map(told));
    } finally {
      await browser.close();
    }
    if (options.json) process.stdout.write(`${JSON.stringify({ options, figures })}\n`);
    else printTable(['what', 'measured', 'aim', ''], figures.map(rowOf));
  });
}
