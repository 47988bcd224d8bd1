import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { databaseUrlOf } from '#database/roles.js';
import { parseAmount } from '#money/amount.js';
import { type Account, Books } from '../support/books.js';
import { askForCluster } from '../support/database.js';
import { until } from '../support/eventually.js';
import { type KafkaCluster, openKafkaCluster } from '../support/kafka-cluster.js';
import { launch, type Launched } from '../support/programs.js';
import { type ShopperOptions, Shoppers } from '../support/shoppers.js';
import { socketOf, TcpSwitch } from '../support/tcp-switch.js';
import { Load } from '../rehearsals/load.js';
import { Autoscalers } from './autoscalers.js';
import { Caller, reach } from './caller.js';
import { Installation, PROGRAMS, RELEASE } from './installation.js';
import { Node } from './node.js';

const DATABASE = 'tollgate_chart';
const CREDITS = '100';
const SANDBOX = { port: 4010, key: 'sandbox-key' };
const GAP_MS = 250;
/** Calls after a pod was replaced or killed. */
const CALLS = 20;
const HEALTH = 9464;
const CONSOLE = 8788;
/** How often SDKs retry a call by default. */
const REPEATS = 2;
/** Clients that keep the gateways busy. */
const BUSY = 16;

describe('the chart in a cluster', () => {
  let node: Node;
  let kafka: KafkaCluster;
  let way: TcpSwitch;
  let sandbox: Launched;
  let books: Books;
  let chart: Installation;
  let gateway: string;
  let account: Account;

  beforeAll(async () => {
    node = await Node.start();
    const { bridge } = node.place;
    const brokers: string[] = [];
    kafka = await openKafkaCluster(async (_id, port) => {
      const address = `${bridge}:${port}`;
      brokers.push(address);
      return address;
    });
    const { adminUrl } = await askForCluster();
    way = await TcpSwitch.open(socketOf(adminUrl));
    books = Books.open(databaseUrlOf(adminUrl, DATABASE));
    sandbox = launch('dist/apps/sandbox-upstream/main.js', [], {
      SANDBOX_HOST: '127.0.0.1',
      SANDBOX_PORT: String(SANDBOX.port),
      SANDBOX_API_KEY: SANDBOX.key,
      SANDBOX_IMAGE_SECONDS: '0.5',
    });
    chart = new Installation(node, {
      adminPassword: decodeURIComponent(new URL(adminUrl).password),
      databasePort: way.port,
      database: DATABASE,
      sandbox: SANDBOX,
      brokers,
    });
    await chart.prepare();
  });

  afterAll(async () => {
    await books?.close();
    await sandbox?.end('SIGTERM');
    await way?.close();
    await kafka?.stop();
  });

  it('is installed by Helm in a namespace that only allows pods without any privilege', async () => {
    await chart.install();
    gateway = `http://${await chart.addressOf('gateway')}:8787`;
  });

  it('has pods that are ready by their probes, as many as it says, and none that restarted', async () => {
    for (const program of PROGRAMS) {
      const many = program === 'control-plane' ? 1 : 2;
      const ready = await chart.ready(program, many);
      const restarts = ready.map(({ status }) => status.containerStatuses?.[0]?.restartCount);
      expect([program, restarts]).toEqual([program, Array.from({ length: many }, () => 0)]);
    }
  });

  it('runs as an ordinary user who cannot change anything in the image', async () => {
    for (const program of PROGRAMS) {
      expect([program, (await chart.inside(program, 'id', '-u')).trim()]).toEqual([program, '1000']);
      await expect(chart.inside(program, 'touch', '/app/new')).rejects.toThrow(/Read-only file system/);
    }
  });

  it('refuses a pod that may have privileges in that namespace', async () => {
    await expect(chart.kubectl('run', 'root', '--image', 'tollgate:test')).rejects.toThrow(
      /violates PodSecurity "restricted/,
    );
  });

  it('charges for an image requested from its service, and serves its file from the other gateway too', async () => {
    const made = (await chart.tollgate(
      'accounts',
      'create',
      '--name',
      'me',
      '--credits',
      CREDITS,
    )) as Account;
    account = { ...made, opening: parseAmount(CREDITS) };
    const shoppers = new Shoppers(account, () => gateway);
    const { data } = await shoppers
      .sdk()
      .images.generate({ model: 'vendora-imagine-image', prompt: 'a lighthouse' });
    const { pathname, search } = new URL(data![0]!.url!);
    for (const { status } of await Promise.all(
      [1, 2, 3, 4].map(() => fetch(`${gateway}${pathname}${search}`)),
    )) {
      expect(status).toBe(200);
    }
    await books.atRest();
    expect(await chart.tollgate('accounts', 'show', account.accountId, '--json')).toMatchObject({
      main: '99.98',
      held: '0',
    });
  });

  it.each(PROGRAMS)('passes doctor in a pod of %s', async (program) => {
    expect((await chart.doctor(program)).filter(({ state }) => state === 'fail')).toEqual([]);
  });

  it('lets a pod call only what the policies of both sides allow', async () => {
    const controlPlane = await chart.addressOf('control-plane');
    const from = (program: string) => ({
      run: (...args: string[]) => chart.inside(program, ...args),
    });
    // Billing may only call the database and the broker; other pods may not call a health port.
    await reach(from('billing'), { host: node.place.bridge, port: way.port }, 'open');
    await reach(from('billing'), { host: node.place.bridge, port: SANDBOX.port }, 'ECONNREFUSED');
    await reach(from('gateway'), { host: node.place.bridge, port: SANDBOX.port }, 'open');
    await reach(from('billing'), { host: controlPlane, port: CONSOLE }, 'ECONNREFUSED');
    await reach(from('gateway'), { host: controlPlane, port: CONSOLE }, 'open');
    await reach(from('gateway'), { host: controlPlane, port: HEALTH }, 'ECONNREFUSED');
  });

  it('is called only by the clients, and watched only by the monitoring, that the values name', async () => {
    const caller = await Caller.start(chart);
    const api = { host: new URL(gateway).hostname, port: 8787 };
    const health = { ...api, port: HEALTH };
    await reach(caller, api, 'open');
    await reach(caller, health, 'ECONNREFUSED');
    await chart.upgrade(
      'networkPolicy.clients[0].podSelector.matchLabels.role=client',
      'networkPolicy.monitoring[0].podSelector.matchLabels.role=prometheus',
    );
    await reach(caller, api, 'ECONNREFUSED');
    await caller.label('role=client');
    await reach(caller, api, 'open');
    await reach(caller, health, 'ECONNREFUSED');
    await caller.label('role=prometheus');
    await reach(caller, health, 'open');
    await reach(caller, api, 'ECONNREFUSED');
    await caller.end();
  });

  it('is upgraded under load, pod by pod, without an error for clients that retry a broken call', async () => {
    const { shoppers, load } = await underLoad({ repeats: REPEATS });
    const before = await chart.namesOf('gateway');
    const sinceMs = performance.now();
    await chart.upgrade('podAnnotations.upgraded=once');
    await load.ended(CALLS);
    await load.stop();
    await until('the old gateways to end', async () => {
      const names = await chart.namesOf('gateway');
      return before.every((name) => !names.includes(name));
    });
    expect([load.failedSince(sinceMs), shoppers.told.filter(({ status }) => status !== 200)]).toEqual([
      0,
      [],
    ]);
    await booksAgree(shoppers);
  });

  it('replaces pods that are killed, and loses no charge', async () => {
    const { shoppers, load } = await underLoad();
    for (const program of ['gateway', 'billing']) {
      const [victim = ''] = await chart.namesOf(program);
      await chart.kubectl('delete', 'pod', victim, '--grace-period=0', '--force');
      await chart.rolledOut(program);
      await load.ended(CALLS);
      expect(await chart.namesOf(program)).not.toContain(victim);
    }
    await load.served(performance.now(), () => node.logs());
    await load.stop();
    await booksAgree(shoppers);
  });

  describe('with the metrics of its pods', () => {
    let autoscalers: Autoscalers;

    beforeAll(async () => {
      await chart.upgrade(
        'programs.gateway.resources.requests.cpu=100m',
        ...setAutoscaling('gateway', { cpuPercent: 30, maxReplicas: 3 }),
        ...setAutoscaling('billing', { cpuPercent: 10_000, maxReplicas: 3, lag: 5 }),
        ...setAutoscaling('video-worker', { cpuPercent: 10_000 }),
      );
      autoscalers = await Autoscalers.start(chart);
    });
    afterAll(() => autoscalers?.stop());

    it('has more gateways while they are busy, and fewer afterwards', async () => {
      await autoscalers.know('gateway');
      const shoppers = new Shoppers(await books.account(CREDITS), () => gateway);
      let isBusy = true;
      const shop = async () => {
        while (isBusy) await shoppers.images();
      };
      const shops = Array.from({ length: BUSY }, shop);
      await chart.ready('gateway', 3);
      isBusy = false;
      await Promise.all(shops);
      await autoscalers.calm('gateway');
      await chart.ready('gateway', 2);
      await booksAgree(shoppers);
    });

    it('has more billings while messages wait, and fewer afterwards', async () => {
      const { shoppers, load } = await underLoad();
      await autoscalers.know('billing');
      await whileLocked(shoppers.account.accountId, () =>
        until('a third billing', async () => (await chart.namesOf('billing')).length === 3),
      );
      await chart.ready('billing', 3);
      await load.served(performance.now(), () => node.logs());
      await load.stop();
      await booksAgree(shoppers);
      await autoscalers.calm('billing');
      await chart.ready('billing', 2);
    });
  });

  it('leaves the files when it is uninstalled, and nothing else', async () => {
    await chart.uninstall();
    expect(await chart.objects()).toEqual([`PersistentVolumeClaim ${RELEASE}-files`]);
    const secret = await chart.kubectl('get', 'secrets', '--output', 'name');
    expect(secret.trim().split('\n')).toEqual(['secret/tollgate']);
  });

  async function underLoad(options?: ShopperOptions): Promise<{ shoppers: Shoppers; load: Load }> {
    const shoppers = new Shoppers(await books.account(CREDITS), () => gateway, options);
    const ask = async () => (await shoppers.images()).status === 200;
    const load = new Load({ gapMs: () => GAP_MS, ask });
    load.start();
    await load.ended(CALLS);
    return { shoppers, load };
  }

  /** While `work` runs, billing's next step for the account has to wait. */
  async function whileLocked(accountId: string, work: () => Promise<unknown>): Promise<void> {
    const client = await books.pool.connect();
    try {
      await client.query('BEGIN');
      await client.query('SELECT FROM customer_balances WHERE account_id = $1 FOR UPDATE', [accountId]);
      await work();
    } finally {
      // The lock ends with its connection.
      client.release(true);
    }
  }

  async function booksAgree(shoppers: Shoppers): Promise<void> {
    await books.atRest();
    expect(await books.faultsOf(shoppers.account, shoppers.told)).toEqual([]);
    expect(await chart.tollgate('ledger', 'check', '--json')).toMatchObject({ ok: true });
    expect(await books.ledgerFaults()).toEqual([]);
  }
});

function setAutoscaling(program: string, values: Record<string, number>): string[] {
  return Object.entries(values).map(([name, value]) => `programs.${program}.autoscaling.${name}=${value}`);
}
