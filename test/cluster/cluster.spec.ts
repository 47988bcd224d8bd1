import { chownSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { databaseUrlOf } from '#database/roles.js';
import { parseAmount } from '#money/amount.js';
import { type Account, Books } from '../support/books.js';
import { askForCluster } from '../support/database.js';
import { PATIENCE } from '../support/durations.js';
import { until } from '../support/eventually.js';
import { type KafkaCluster, openKafkaCluster } from '../support/kafka-cluster.js';
import { launch, type Launched } from '../support/programs.js';
import { Shoppers } from '../support/shoppers.js';
import { socketOf, TcpSwitch } from '../support/tcp-switch.js';
import { Load } from '../rehearsals/load.js';
import { Node } from './node.js';

const root = join(import.meta.dirname, '../..');
const CHART = join(root, 'deploy/helm/tollgate');
const HELM = process.env['TOLLGATE_HELM'] ?? 'helm';
const SPACE = 'relay';
const RELEASE = 'shop';
const DATABASE = 'tollgate_chart';
const CREDITS = '100';
const PROGRAMS = ['gateway', 'billing', 'control-plane', 'video-worker'];
const CLI = ['node', 'dist/apps/cli/main.js'];
const SANDBOX_KEY = 'sandbox-key';
/** Every kind that the chart makes or that follows from it, and jobs of Helm. */
const KINDS = 'all,networkpolicies,poddisruptionbudgets,horizontalpodautoscalers,persistentvolumeclaims';
const GAP_MS = 250;
/** Calls after a pod was replaced or killed. */
const CALLS = 20;
const READY_LIMIT = '10m';

interface Listed {
  items: {
    kind: string;
    metadata: { name: string };
    status: {
      conditions?: { type: string; status: string }[];
      containerStatuses?: { restartCount: number }[];
    };
    spec: { clusterIP?: string };
  }[];
}

describe('the chart in a cluster', () => {
  let node: Node;
  let kafka: KafkaCluster;
  let way: TcpSwitch;
  let sandbox: Launched;
  let books: Books;
  let gateway: string;
  let account: Account;

  const kubectl = (...args: string[]) => node.kubectl('--namespace', SPACE, ...args);
  const helm = (...args: string[]) => node.run(HELM, '--namespace', SPACE, ...args);
  const inside = (program: string, ...args: string[]) =>
    kubectl('exec', `deploy/${RELEASE}-${program}`, '--', ...args);
  const tollgate = async (...args: string[]) =>
    JSON.parse(await inside('billing', ...CLI, ...args)) as object;
  const podsOf = async (program: string) => {
    const selector = `app.kubernetes.io/component=${program}`;
    return (await node.get<Listed>('pods', '--namespace', SPACE, '--selector', selector)).items;
  };

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
      SANDBOX_PORT: '4010',
      SANDBOX_API_KEY: SANDBOX_KEY,
      SANDBOX_IMAGE_SECONDS: '0.5',
    });
    await makeNamespace(new URL(adminUrl));
    writeFileSync(join(node.place.folder, 'values.json'), JSON.stringify(values(brokers)));
  });

  afterAll(async () => {
    await books?.close();
    await sandbox?.end('SIGTERM');
    await way?.close();
    await kafka?.stop();
  });

  /** One that takes only pods without any privilege, with the Secret that the README describes, and a disk for the files. */
  async function makeNamespace(admin: URL): Promise<void> {
    const { folder } = node.place;
    const files = join(folder, 'files');
    mkdirSync(files);
    // Those of this machine's disk are not handed over to a pod's group.
    chownSync(files, 1000, 1000);
    const objects = [
      {
        apiVersion: 'v1',
        kind: 'Namespace',
        metadata: { name: SPACE, labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } },
      },
      {
        apiVersion: 'v1',
        kind: 'PersistentVolume',
        metadata: { name: 'files' },
        spec: {
          capacity: { storage: '1Gi' },
          accessModes: ['ReadWriteMany'],
          storageClassName: 'shared',
          hostPath: { path: files },
        },
      },
    ];
    writeFileSync(join(folder, 'objects.json'), objects.map((object) => JSON.stringify(object)).join('\n'));
    await node.kubectl('apply', '--filename', join(folder, 'objects.json'));
    const lines = Object.entries(secrets(decodeURIComponent(admin.password))).map(
      ([name, value]) => `${name}=${value}`,
    );
    writeFileSync(join(folder, 'secrets'), lines.join('\n'));
    await kubectl('create', 'secret', 'generic', 'tollgate', `--from-env-file=${join(folder, 'secrets')}`);
  }

  function values(brokers: readonly string[]): object {
    const { bridge } = node.place;
    const small = { resources: { requests: { cpu: '20m', memory: '128Mi' } } };
    return {
      image: { repository: 'tollgate', tag: 'test' },
      variables: {
        ...PATIENCE,
        CHARGE_GRACE_SECONDS: '1',
        STUCK_AFTER_SECONDS: '2',
        SWEEP_INTERVAL_SECONDS: '0.3',
      },
      database: { host: bridge, port: way.port, name: DATABASE, admin: 'tollgate_admin' },
      kafka: { brokers: brokers.join(',') },
      storage: { kind: 'file', file: { storageClassName: 'shared', size: '1Gi' } },
      programs: Object.fromEntries(PROGRAMS.map((program) => [program, small])),
      migrate: {
        ...small,
        variables: { SANDBOX_URL: `http://${bridge}:4010`, SANDBOX_API_KEY: SANDBOX_KEY },
      },
    };
  }

  /** @throws Error with what the pods and the node said */
  async function deploy(...args: string[]): Promise<void> {
    try {
      await helm(...args, '--wait', '--timeout', READY_LIMIT);
    } catch (error) {
      const logs = await kubectl(
        'logs',
        '--selector',
        'app.kubernetes.io/name=tollgate',
        '--tail',
        '15',
        '--prefix',
      );
      const events = await kubectl('get', 'events', '--sort-by', '.lastTimestamp');
      const all = await kubectl('get', KINDS, '--output', 'wide');
      throw new Error([(error as Error).message, all, events, logs, node.logs()].join('\n'), {
        cause: error,
      });
    }
  }

  it('is installed by Helm in a namespace that takes only pods without any privilege', async () => {
    await deploy('install', RELEASE, CHART, '--values', join(node.place.folder, 'values.json'));
    const service = await node.get<Listed['items'][number]>(
      'service',
      '--namespace',
      SPACE,
      `${RELEASE}-gateway`,
    );
    gateway = `http://${service.spec.clusterIP}:8787`;
  });

  it('has pods that are ready by their probes, as many as it says, and none that started twice', async () => {
    for (const program of PROGRAMS) {
      const many = program === 'control-plane' ? 1 : 2;
      const ready = await until(`${many} ready pods of ${program}`, async () => {
        const found = await podsOf(program);
        const isReady = found.every(({ status }) =>
          status.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True'),
        );
        return isReady && found.length === many && found;
      });
      const restarts = ready.map(({ status }) => status.containerStatuses?.[0]?.restartCount);
      expect([program, restarts]).toEqual([program, Array.from({ length: many }, () => 0)]);
    }
  });

  it('runs as an ordinary user that can change nothing of the image', async () => {
    for (const program of PROGRAMS) {
      expect([program, (await inside(program, 'id', '-u')).trim()]).toEqual([program, '1000']);
      await expect(inside(program, 'touch', '/app/new')).rejects.toThrow(/Read-only file system/);
    }
  });

  it('refuses a pod that may have privileges in that namespace', async () => {
    await expect(kubectl('run', 'root', '--image', 'tollgate:test')).rejects.toThrow(
      /violates PodSecurity "restricted/,
    );
  });

  it('charges for an image that is asked for at its service, and serves its file from the other gateway too', async () => {
    const made = (await tollgate('accounts', 'create', '--name', 'me', '--credits', CREDITS)) as Account;
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
    expect(await tollgate('accounts', 'show', account.accountId, '--json')).toMatchObject({
      main: '99.98',
      held: '0',
    });
  });

  it.each(PROGRAMS)('passes doctor in a pod of %s', async (program) => {
    const report = await inside(program, ...CLI, 'doctor', '--json');
    const { checks } = JSON.parse(report) as { checks: { check: string; state: string }[] };
    expect(checks.filter(({ state }) => state === 'fail')).toEqual([]);
  });

  it('is upgraded under load, pod by pod, without an error for a client', async () => {
    const { shoppers, load } = await underLoad();
    const before = await namesOf('gateway');
    const sinceMs = performance.now();
    await deploy('upgrade', RELEASE, CHART, '--reuse-values', '--set', 'podAnnotations.upgraded=once');
    await load.ended(CALLS);
    await load.stop();
    await until('the old gateways to end', async () => {
      const names = await namesOf('gateway');
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
      const [victim = ''] = await namesOf(program);
      await kubectl('delete', 'pod', victim, '--grace-period=0', '--force');
      await kubectl('rollout', 'status', `deploy/${RELEASE}-${program}`, `--timeout=${READY_LIMIT}`);
      await load.ended(CALLS);
      expect(await namesOf(program)).not.toContain(victim);
    }
    await load.served(performance.now(), () => node.logs());
    await load.stop();
    await booksAgree(shoppers);
  });

  it('leaves the files when it is uninstalled, and nothing else', async () => {
    await helm('uninstall', RELEASE, '--wait', '--cascade', 'foreground', '--timeout', READY_LIMIT);
    const { items } = await node.get<Listed>(KINDS, '--namespace', SPACE);
    expect(items.map(({ kind, metadata }) => `${kind} ${metadata.name}`)).toEqual([
      `PersistentVolumeClaim ${RELEASE}-files`,
    ]);
    const secret = await kubectl('get', 'secrets', '--output', 'name');
    expect(secret.trim().split('\n')).toEqual(['secret/tollgate']);
  });

  async function namesOf(program: string): Promise<string[]> {
    return (await podsOf(program)).map(({ metadata }) => metadata.name);
  }

  async function underLoad(): Promise<{ shoppers: Shoppers; load: Load }> {
    const shoppers = new Shoppers(await books.account(CREDITS), () => gateway);
    const ask = async () => (await shoppers.images()).status === 200;
    const load = new Load({ gapMs: () => GAP_MS, ask });
    load.start();
    await load.ended(CALLS);
    return { shoppers, load };
  }

  async function booksAgree(shoppers: Shoppers): Promise<void> {
    await books.atRest();
    expect(await books.faultsOf(shoppers.account, shoppers.told)).toEqual([]);
    expect(await tollgate('ledger', 'check', '--json')).toMatchObject({ ok: true });
    expect(await books.ledgerFaults()).toEqual([]);
  }
});

function secrets(adminPassword: string): Record<string, string> {
  const passwords = ['OWNER', 'GATEWAY', 'BILLING', 'WORKER'];
  return {
    ...Object.fromEntries(
      passwords.map((name) => [`${name}_DATABASE_PASSWORD`, `${name.toLowerCase()}-of-this-test`]),
    ),
    ADMIN_DATABASE_PASSWORD: adminPassword,
    SECRETS_KEY: Buffer.alloc(32, 'key').toString('base64'),
    URL_SIGNING_SECRET: 'a secret of this test that signs addresses of files',
    CONSOLE_GRANT_SECRET: 'a secret of this test that the console shows to gateways',
  };
}
