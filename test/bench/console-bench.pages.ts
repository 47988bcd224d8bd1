import type { Browser, Page } from 'playwright-core';
import { Tab } from '../console/support/browser.js';
import { until } from '../support/eventually.js';
import type { ConsoleRelay } from './console-bench.relay.js';
import type { Figure } from './finance.bench.js';
import { percentile } from './report.js';

/** Without a long task for this long, a key press is answered at once. */
const IDLE_MS = 500;
const LONGEST_OPENING_MS = 60_000;

interface Opening {
  what: string;
  path: string;
  /** How many rows have to be there. */
  rows: number;
  /** A selector for what else has to be there. */
  also?: string;
}

const COLD_AIM_MS = 2_500;
const WARM_AIM_MS = 1_500;
const NEXT_AIM_MS = 1_000;
/** For the server, so that a chart follows a selection at once. */
const CHART_AIM_MS = 100;

const OVERVIEW: Opening = {
  what: 'overview',
  path: '/overview',
  rows: 5,
  also: '.recharts-surface',
};
/** One row for each of its two models. */
const USAGE: Opening = { what: 'usage', path: '/usage', rows: 2, also: '.recharts-surface' };
const LOGS: Opening = { what: 'logs', path: '/logs', rows: 50 };
const FILTERED: Opening = {
  what: 'logs, one model, refunded',
  rows: 50,
  path: '/logs?model=imgmodel-4&state=released',
};

/** Opens overview, usage and log in a new browser and in one that was here before, and goes to the next page. */
export async function measurePages(
  browser: Browser,
  relay: ConsoleRelay,
  samples: number,
): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const opening of [OVERVIEW, USAGE, LOGS, FILTERED]) {
    const { cold, warm } = await openOften(browser, relay, { opening, samples });
    figures.push(timeOf(`${opening.what}, cold cache`, cold, COLD_AIM_MS));
    figures.push(timeOf(`${opening.what}, warm cache`, warm, WARM_AIM_MS));
  }
  return [...figures, timeOf('logs, next page', await pageOn(browser, relay, samples), NEXT_AIM_MS)];
}

function timeOf(what: string, times: number[], atMost: number): Figure {
  const note = `${Math.round(Math.min(...times))} to ${Math.round(Math.max(...times))} ms`;
  return { what, value: percentile(times, 0.5), unit: 'ms', aim: { atMost }, note };
}

async function openOften(
  browser: Browser,
  relay: ConsoleRelay,
  { opening, samples }: { opening: Opening; samples: number },
): Promise<Record<'cold' | 'warm', number[]>> {
  const times: Record<'cold' | 'warm', number[]> = { cold: [], warm: [] };
  for (let sample = 0; sample < samples; sample += 1) {
    const tab = await openTab(browser, relay, opening);
    for (const cache of ['cold', 'warm'] as const) {
      await tab.page.goto(opening.path);
      times[cache].push(await interactiveAt(tab.page));
      await tab.page.goto('about:blank');
    }
    await tab.close();
  }
  return times;
}

async function pageOn(browser: Browser, relay: ConsoleRelay, samples: number): Promise<number[]> {
  const tab = await openTab(browser, relay, LOGS);
  await tab.page.goto(LOGS.path);
  await interactiveAt(tab.page);
  const times: number[] = [];
  for (let sample = 0; sample < samples; sample += 1) {
    await tab.page.getByRole('button', { name: 'Next page' }).click();
    times.push(await interactiveAt(tab.page));
  }
  await tab.close();
  return times;
}

async function openTab(browser: Browser, relay: ConsoleRelay, opening: Opening): Promise<Tab> {
  const tab = await Tab.open(browser, relay, { as: relay.owner, isFirstVisit: true });
  await tab.page.addInitScript({ content: watching(opening) });
  return tab;
}

/**
 * Milliseconds from the start of the page, or from the last click, until its content is there and nothing keeps its
 * thread busy for longer than 50 ms.
 */
async function interactiveAt(page: Page): Promise<number> {
  return until('the page to come to rest', () => page.evaluate<number | null>('bench.interactiveMs()'), {
    limitMs: LONGEST_OPENING_MS,
  });
}

/** Records in the page when its content was there, and when its thread was last busy. */
function watching({ rows, also = 'h1' }: Opening): string {
  return `
    window.bench = { fromMs: 0, shownMs: null, busyUntilMs: 0, before: null };
    const rows = () => [...document.querySelectorAll('.data-list')].at(-1)?.querySelectorAll('tbody tr') ?? [];
    const first = () => rows()[0]?.textContent;
    const isShown = () =>
      document.querySelector('h1') && document.querySelector(${JSON.stringify(also)}) &&
      !document.querySelector('[aria-busy="true"], .mantine-Skeleton-root') &&
      rows().length >= ${rows} && first() !== bench.before;
    new MutationObserver(() => {
      if (bench.shownMs === null && isShown()) bench.shownMs = performance.now();
    }).observe(document, { subtree: true, childList: true, attributes: true });
    new PerformanceObserver((list) => {
      for (const { startTime, duration } of list.getEntries()) bench.busyUntilMs = startTime + duration;
    }).observe({ type: 'longtask', buffered: true });
    addEventListener('click', () => {
      Object.assign(bench, { fromMs: performance.now(), shownMs: null, before: first() });
    }, true);
    bench.interactiveMs = () => {
      const endMs = Math.max(bench.shownMs, bench.busyUntilMs);
      const isAtRest = bench.shownMs !== null && performance.now() - endMs > ${IDLE_MS};
      return isAtRest ? endMs - bench.fromMs : null;
    };`;
}

/** What the same server and browser need for an empty page, and the server for each page's data. */
export async function measureFloors(
  browser: Browser,
  relay: ConsoleRelay,
  samples: number,
): Promise<Figure[]> {
  const { owner } = relay;
  const tab = await Tab.open(browser, relay, { as: owner, isFirstVisit: true });
  const pictures: number[] = [];
  for (let sample = 0; sample < samples; sample += 1) {
    const startMs = performance.now();
    await tab.page.goto('/icon.svg');
    pictures.push(performance.now() - startMs);
    await tab.page.goto('about:blank');
  }
  await tab.close();
  const figures = [floor('floor: a static file, opened by the browser', pictures)];
  for (const path of [
    '/api/overview?zone=Asia/Shanghai',
    '/api/usage?limit=50',
    '/api/usage?limit=50&model=imgmodel-4&state=released',
  ])
    figures.push(floor(`floor: GET ${path}`, await answerTimes(relay, path, samples)));
  for (const asked of [
    'range=24h',
    'range=30d',
    'range=90d',
    'range=90d&by=key',
    'range=30d&model=imgmodel-4',
  ]) {
    const path = `/api/usage/chart?${asked}`;
    figures.push(timeOf(`GET ${path}`, await answerTimes(relay, path, samples), CHART_AIM_MS));
  }
  return figures;
}

async function answerTimes(
  { consoleUrl, owner }: ConsoleRelay,
  path: string,
  samples: number,
): Promise<number[]> {
  const times: number[] = [];
  for (let sample = 0; sample < samples; sample += 1) {
    const startMs = performance.now();
    const answer = await fetch(consoleUrl + path, { headers: owner.headers });
    await answer.text();
    if (!answer.ok) throw new Error(`${path} was answered with ${answer.status}`);
    times.push(performance.now() - startMs);
  }
  return times;
}

function floor(what: string, times: number[]): Figure {
  return { what, value: percentile(times, 0.5), unit: 'ms', aim: null, note: '' };
}
