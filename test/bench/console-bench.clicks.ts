import type { Browser, Page } from 'playwright-core';
import { Tab } from '../console/support/browser.js';
import { until } from '../support/eventually.js';
import type { ConsoleRelay } from './console-bench.relay.js';
import type { Figure } from './finance.bench.js';
import { percentile } from './report.js';

/** From the press to the next paint, which is what people notice. */
const AIM_MS = 100;
/** The shortest time that browsers report. Anything quicker is reported as this. */
const SHORTEST_MS = 16;

interface Interaction {
  what: string;
  act: (page: Page) => Promise<void>;
}

const OF_USAGE: readonly Interaction[] = [
  { what: 'grouped by key', act: (page) => page.getByText('By key', { exact: true }).click() },
  { what: 'a longer range', act: (page) => page.getByText('90 d', { exact: true }).click() },
  { what: 'grouped by model', act: (page) => page.getByText('By model', { exact: true }).click() },
  { what: 'a shorter range', act: (page) => page.getByText('7 d', { exact: true }).click() },
];
const OF_LOGS: readonly Interaction[] = [
  { what: 'next page', act: (page) => page.getByRole('button', { name: 'Next page' }).click() },
  { what: 'a receipt opened', act: (page) => requests(page).locator('tbody tr').nth(3).click() },
  { what: 'a receipt closed', act: (page) => page.keyboard.press('Escape') },
  { what: 'search opened', act: (page) => page.keyboard.press('Control+k') },
  { what: 'a letter searched for', act: (page) => page.keyboard.type('w') },
  { what: 'search closed', act: (page) => page.keyboard.press('Escape') },
];

const requests = (page: Page) => page.getByRole('table', { name: 'Requests, newest first' });

/**
 * Presses on pages with many requests, each until the browser has painted the immediate result. Data may come later.
 */
export async function measureClicks(
  browser: Browser,
  relay: ConsoleRelay,
  samples: number,
): Promise<Figure[]> {
  const ofUsage = await measureOn(browser, relay, { path: '/usage', choices: OF_USAGE, samples });
  const ofLogs = await measureOn(browser, relay, { path: '/logs', choices: OF_LOGS, samples });
  return [...ofUsage, ...ofLogs];
}

interface Measured {
  path: '/usage' | '/logs';
  choices: readonly Interaction[];
  samples: number;
}

async function measureOn(
  browser: Browser,
  relay: ConsoleRelay,
  { path, choices, samples }: Measured,
): Promise<Figure[]> {
  const tab = await Tab.open(browser, relay, { as: relay.owner, isFirstVisit: true });
  await tab.page.addInitScript({ content: WATCHING });
  await tab.goto(path);
  const times = new Map<string, number[]>(choices.map(({ what }) => [what, []]));
  // The first press is for what loads on first use.
  for (let sample = 0; sample <= samples; sample += 1) {
    for (const choice of choices) {
      const took = await paintedAfter(tab, choice);
      if (sample > 0) times.get(choice.what)!.push(took);
    }
  }
  await tab.close();
  return [...times].map(([what, all]) => figureOf(`${path.slice(1)}, press to paint: ${what}`, all));
}

async function paintedAfter(tab: Tab, { act }: Interaction): Promise<number> {
  await tab.page.evaluate('bench.reset()');
  await act(tab.page);
  const took = await until('the browser to paint', () => tab.page.evaluate<number | null>('bench.painted()'));
  await tab.settled();
  return took;
}

/**
 * Events under the shortest time, which nobody notices, are not reported. One frame after the last event, a missing one
 * is known to be one of these.
 */
const WATCHING = `
  window.bench = { longest: 0, frames: 0 };
  new PerformanceObserver((list) => {
    for (const { interactionId, duration } of list.getEntries())
      if (interactionId > 0) bench.longest = Math.max(bench.longest, duration);
  }).observe({ type: 'event', durationThreshold: ${SHORTEST_MS} });
  const count = () => { bench.frames += 1; requestAnimationFrame(count); };
  requestAnimationFrame(count);
  bench.reset = () => Object.assign(bench, { longest: 0, frames: 0 });
  bench.painted = () => (bench.frames > 10 ? Math.max(bench.longest, ${SHORTEST_MS}) : null);`;

function figureOf(what: string, times: number[]): Figure {
  const note = `slowest ${Math.max(...times)} ms`;
  return {
    what,
    value: percentile(times, 0.5),
    unit: 'ms',
    aim: { atMost: AIM_MS },
    note,
  };
}
