import { chownSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PATIENCE } from '../support/durations.js';
import { until } from '../support/eventually.js';
import type { Node } from './node.js';

const CHART = join(import.meta.dirname, '../../deploy/helm/tollgate');
const HELM = process.env['TOLLGATE_HELM'] ?? 'helm';
const CLI = ['node', 'dist/apps/cli/main.js'];
const READY_LIMIT = '10m';
/**
 * On a starved machine, little time is left for being busy: once, a third gateway was ready only after four minutes.
 */
const SCALED_LIMIT_MS = 600_000;
/** Every kind that the chart creates or causes, and Helm's jobs. */
const KINDS = 'all,networkpolicies,poddisruptionbudgets,horizontalpodautoscalers,persistentvolumeclaims';

export const IMAGE = { repository: 'tollgate', tag: 'test' };
export const SPACE = 'relay';
export const RELEASE = 'shop';
export const PROGRAMS = ['gateway', 'billing', 'control-plane', 'video-worker'];

interface Listed {
  items: Pod[];
}

interface Pod {
  kind: string;
  metadata: { name: string };
  status: {
    podIP?: string;
    conditions?: { type: string; status: string }[];
    containerStatuses?: { restartCount: number }[];
  };
}

/** Servers that run beside the cluster, at the address of its bridge. */
export interface Outside {
  adminPassword: string;
  databasePort: number;
  database: string;
  sandbox: { port: number; key: string };
  brokers: readonly string[];
}

/** The chart, in a namespace that only allows pods without any privilege, with the Secret that its README describes. */
export class Installation {
  constructor(
    readonly node: Node,
    private readonly outside: Outside,
  ) {}

  readonly kubectl = (...args: string[]) => this.node.kubectl('--namespace', SPACE, ...args);

  get<T>(...args: string[]): Promise<T> {
    return this.node.get<T>('--namespace', SPACE, ...args);
  }

  inside(program: string, ...args: string[]): Promise<string> {
    return this.kubectl('exec', `deploy/${RELEASE}-${program}`, '--', ...args);
  }

  async tollgate(...args: string[]): Promise<object> {
    return JSON.parse(await this.inside('billing', ...CLI, ...args)) as object;
  }

  async doctor(program: string): Promise<{ check: string; state: string }[]> {
    const report = await this.inside(program, ...CLI, 'doctor', '--json');
    return (JSON.parse(report) as { checks: { check: string; state: string }[] }).checks;
  }

  async podsOf(program: string): Promise<Pod[]> {
    return (await this.get<Listed>('pods', '--selector', `app.kubernetes.io/component=${program}`)).items;
  }

  async namesOf(program: string): Promise<string[]> {
    return (await this.podsOf(program)).map(({ metadata }) => metadata.name);
  }

  /** Waits until a program has this many pods, all of them ready. */
  async ready(program: string, many: number): Promise<Pod[]> {
    return until(
      `${many} ready pods of ${program}`,
      async () => {
        const found = await this.podsOf(program);
        const isReady = found.every(({ status }) =>
          status.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True'),
        );
        return isReady && found.length === many && found;
      },
      { limitMs: SCALED_LIMIT_MS },
    );
  }

  /** The address of a program's Service. */
  async addressOf(program: string): Promise<string> {
    const { spec } = await this.get<{ spec: { clusterIP: string } }>('service', `${RELEASE}-${program}`);
    return spec.clusterIP;
  }

  /** The names of everything in the namespace, by kind. */
  async objects(): Promise<string[]> {
    const { items } = await this.get<Listed>(KINDS);
    return items.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
  }

  /** Creates the namespace, the Secret, and a disk for the files. */
  async prepare(): Promise<void> {
    const { folder } = this.node.place;
    const files = join(folder, 'files');
    mkdirSync(files);
    // A pod's group does not get ownership of files on this machine's disk.
    chownSync(files, 1000, 1000);
    await this.node.apply(...objects(files));
    const lines = Object.entries(secrets(this.outside.adminPassword)).map(
      ([name, value]) => `${name}=${value}`,
    );
    writeFileSync(join(folder, 'secrets'), lines.join('\n'));
    await this.kubectl(
      'create',
      'secret',
      'generic',
      'tollgate',
      `--from-env-file=${join(folder, 'secrets')}`,
    );
  }

  async install(): Promise<void> {
    const file = join(this.node.place.folder, 'values.json');
    writeFileSync(file, JSON.stringify(this.values()));
    await this.deploy('install', RELEASE, CHART, '--values', file);
  }

  /** Upgrades with these values, such as `podAnnotations.upgraded=once`, in addition to the previous ones. */
  async upgrade(...values: string[]): Promise<void> {
    const set = values.flatMap((value) => ['--set', value]);
    await this.deploy('upgrade', RELEASE, CHART, '--reuse-values', ...set);
  }

  async uninstall(): Promise<void> {
    await this.helm('uninstall', RELEASE, '--wait', '--cascade', 'foreground', '--timeout', READY_LIMIT);
  }

  /** Waits until all pods of a program are of the newest version of its Deployment. */
  async rolledOut(program: string): Promise<void> {
    await this.kubectl('rollout', 'status', `deploy/${RELEASE}-${program}`, `--timeout=${READY_LIMIT}`);
  }

  private helm(...args: string[]): Promise<string> {
    return this.node.run(HELM, '--namespace', SPACE, ...args);
  }

  /** @throws Error with what the pods and the node printed */
  private async deploy(...args: string[]): Promise<void> {
    try {
      await this.helm(...args, '--wait', '--timeout', READY_LIMIT);
    } catch (error) {
      throw new Error(`${(error as Error).message}\n${await this.state()}`, { cause: error });
    }
  }

  private async state(): Promise<string> {
    const ours = ['--selector', 'app.kubernetes.io/name=tollgate'];
    const all = await this.kubectl('get', KINDS, '--output', 'wide');
    const events = await this.kubectl('get', 'events', '--sort-by', '.lastTimestamp');
    const logs = await this.kubectl('logs', ...ours, '--tail', '15', '--prefix');
    return [all, events, logs, this.node.logs()].join('\n');
  }

  private values(): object {
    const { bridge } = this.node.place;
    const { databasePort, database, sandbox, brokers } = this.outside;
    const small = { resources: { requests: { cpu: '20m', memory: '128Mi' } } };
    return {
      image: IMAGE,
      variables: {
        ...PATIENCE,
        CHARGE_GRACE_SECONDS: '1',
        STUCK_AFTER_SECONDS: '2',
        SWEEP_INTERVAL_SECONDS: '0.3',
      },
      database: { host: bridge, port: databasePort, name: database, admin: 'tollgate_admin' },
      kafka: { brokers: brokers.join(',') },
      storage: { kind: 'file', file: { storageClassName: 'shared', size: '1Gi' } },
      programs: Object.fromEntries(PROGRAMS.map((program) => [program, small])),
      migrate: {
        ...small,
        variables: { SANDBOX_URL: `http://${bridge}:${sandbox.port}`, SANDBOX_API_KEY: sandbox.key },
      },
    };
  }
}

function objects(files: string): object[] {
  return [
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
}

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
