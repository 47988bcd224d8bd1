import { once } from 'node:events';
import { createServer, request, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, CDPSession } from 'playwright-core';
import { newId } from '#platform/ids.js';
import { Tab } from '../console/support/browser.js';
import { until } from '../support/eventually.js';
import type { ConsoleRelay } from './console-bench.relay.js';
import type { Figure } from './finance.bench.js';

/** Three videos are running at any time. Each takes this many updates. */
const RUNNING = 3;
const UPDATES_OF_A_TASK = 30;
/** The fraction of the updates before the first measurement. What is loaded once is loaded by then. */
const WARM_UP = 1 / 30;
/** Heaps vary. Anything that grows with each update grows by more than this. */
const MOST_GROWTH = 1.1;

/** The real relay, except for the live connection, which sends what the benchmark wants. */
class LiveDoor {
  private readonly streams = new Set<ServerResponse>();
  private readonly server: Server;
  /** How often the page requested the overview. */
  readings = 0;

  private constructor(private readonly consoleUrl: string) {
    this.server = createServer((incoming, answer) => {
      const { url = '/', method = 'GET', headers } = incoming;
      if (url === '/api/live') return this.stream(answer);
      if (url.startsWith('/api/overview')) this.readings += 1;
      const onward = request(this.consoleUrl + url, { method, headers }, (found) => {
        answer.writeHead(found.statusCode ?? 502, found.headers);
        found.pipe(answer);
      });
      onward.on('error', () => answer.destroy());
      incoming.pipe(onward);
    });
  }

  static async open({ consoleUrl }: ConsoleRelay): Promise<LiveDoor> {
    const door = new LiveDoor(consoleUrl);
    door.server.listen(0, '127.0.0.1');
    await once(door.server, 'listening');
    return door;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async listened(): Promise<void> {
    await until('the page to listen', () => Promise.resolve(this.streams.size > 0));
  }

  tell(event: string, data: object): void {
    for (const stream of this.streams) stream.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  private stream(answer: ServerResponse): void {
    answer.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
    answer.flushHeaders();
    this.streams.add(answer);
    answer.on('close', () => this.streams.delete(answer));
  }
}

interface Holding {
  megabytes: number;
  nodes: number;
  listeners: number;
}

/** Keeps the overview open for as many seconds as there are updates, at the pace at which the page handles them. */
export async function measureLive(browser: Browser, relay: ConsoleRelay, updates: number): Promise<Figure[]> {
  const door = await LiveDoor.open(relay);
  try {
    const tab = await Tab.open(browser, { consoleUrl: door.url }, { as: relay.owner, isFirstVisit: true });
    const { page } = tab;
    await page.clock.install();
    await tab.goto('/overview');
    await door.listened();
    const cdp = await tab.context.newCDPSession(page);
    const startMs = performance.now();
    const held: Holding[] = [];
    const looks = [Math.ceil(updates * WARM_UP), Math.round(updates / 2), updates];
    for (let second = 0; second <= updates; second += 1) {
      if (looks.includes(second)) held.push(await holdingOf(cdp));
      sendUpdate(door, second);
      // The page's timers run as if a second went by; its requests are real.
      await page.clock.runFor(1_000);
    }
    const seconds = (performance.now() - startMs) / 1000;
    // A request by the page may still return the stored balance and replace this one, so send it until it is shown.
    await until('the page to show the last balance', async () => {
      door.tell('balance', { main: '123.456789', held: '0', invite: '0' });
      return page.locator('data[value="123.456789"]').first().isVisible();
    });
    const faults = tab.problems();
    if (faults.length > 0) throw new Error(faults[0]);
    await tab.close();
    return figuresOf(held, { updates, seconds, readings: door.readings });
  } finally {
    await door.close();
  }
}

const TASK = {
  kind: 'video',
  model: 'vendora-imagine-video',
  requestedModel: 'vendora-imagine-video',
  keyId: 'k',
  chargeId: 'c',
  seconds: 4,
  size: null,
  aspectRatio: null,
  resolution: null,
  mode: null,
  held: '0.2',
  settled: null,
  released: null,
  endedAt: null,
  file: null,
  error: null,
};
const names = new Map<number, string>();

/** Each second, a task progresses or ends, and the balance changes. */
function sendUpdate(door: LiveDoor, second: number): void {
  const place = second % RUNNING;
  const step = Math.floor(second / RUNNING) % UPDATES_OF_A_TASK;
  if (step === 0) names.set(place, newId());
  const state = step === UPDATES_OF_A_TASK - 1 ? 'completed' : 'in_progress';
  const progress = Math.round((100 * step) / UPDATES_OF_A_TASK);
  const progressed = { state, progress, prompt: `a boat ${second}`, createdAt: new Date().toISOString() };
  door.tell('task', { ...TASK, ...progressed, id: names.get(place) });
  door.tell('balance', { main: `${1_000 + second}.25`, held: '0.6', invite: '0' });
}

/** Measured after garbage collection. */
async function holdingOf(cdp: CDPSession): Promise<Holding> {
  await cdp.send('Performance.enable');
  await cdp.send('HeapProfiler.collectGarbage');
  const { metrics } = await cdp.send('Performance.getMetrics');
  const valueOf = (wanted: string) => metrics.find(({ name }) => name === wanted)?.value ?? NaN;
  return {
    megabytes: valueOf('JSHeapUsedSize') / 1e6,
    nodes: valueOf('Nodes'),
    listeners: valueOf('JSEventListeners'),
  };
}

function figuresOf(
  held: readonly Holding[],
  run: { updates: number; seconds: number; readings: number },
): Figure[] {
  const [first, middle, last] = held as [Holding, Holding, Holding];
  const figures = (
    [
      ['heap', 'megabytes', 'MB'],
      ['nodes', 'nodes', 'nodes'],
      ['listeners', 'listeners', 'listeners'],
    ] as const
  ).map(([what, name, unit]): Figure => {
    const note = `${+first[name].toFixed(1)} at the beginning, ${+middle[name].toFixed(1)} in the middle`;
    const aim = { atMost: middle[name] * MOST_GROWTH };
    return { what: `live updates: ${what} at the end`, value: last[name], unit, aim, note };
  });
  const pace = run.updates / run.seconds;
  const note = `${run.updates} updates, ${run.readings} readings of the overview`;
  return [...figures, { what: 'live updates: pace', value: pace, unit: '/s', aim: null, note }];
}
