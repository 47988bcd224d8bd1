import { execFile, execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import type { AskedSetting } from '#platform/config.js';
import { passwordOf } from '#platform/settings/setting.js';

const root = join(import.meta.dirname, '../..');
const CHART = join(root, 'deploy/helm/tollgate');
const HELM = process.env['TOLLGATE_HELM'] ?? 'helm';
const VALIDATE = process.env['TOLLGATE_KUBERNETES_VALIDATE'] ?? 'kubernetes-validate';
/** The oldest version that the chart may be installed in, and the newest that the schemas know. */
const VERSIONS = ['1.30', '1.37'];
/** A Helm that was built from source knows no version by itself. */
const OLDEST = ['--kube-version', VERSIONS[0]!];
const PROGRAMS = ['gateway', 'billing', 'control-plane', 'video-worker'];
/** What the reference of settings calls them. */
const NAMES: Partial<Record<string, string>> = { 'control-plane': 'control plane', 'video-worker': 'worker' };
const EVERYTHING = [
  'storage.kind=file',
  'storage.file.storageClassName=shared',
  'database.admin=postgres',
  'ingress.enabled=true',
  'ingress.className=nginx',
  'ingress.tlsSecret=tls',
  'serviceMonitor.enabled=true',
  'programs.billing.autoscaling.lag=500',
  'image.pullSecrets[0].name=pull',
  'networkPolicy.clients[0].namespaceSelector.matchLabels.name=ingress',
  'networkPolicy.monitoring[0].namespaceSelector.matchLabels.name=monitoring',
  'networkPolicy.database[0].ipBlock.cidr=10.0.0.5/32',
  'kafka.brokers=a:9092\\,b:9094',
  'programs.control-plane.secrets.SMTP_URL=SMTP_URL',
  'variables.LOG_LEVEL=debug',
];

interface Container {
  command: string[];
  env: { name: string; value: string }[];
  readinessProbe?: object;
  livenessProbe?: object;
  securityContext: object;
  volumeMounts: { name: string; mountPath: string }[];
}
interface KubernetesObject {
  kind: string;
  metadata: { name: string; annotations?: Record<string, string>; labels: Record<string, string> };
  spec: {
    template: {
      spec: {
        containers: [Container];
        securityContext: object;
        volumes: { name: string; secret?: { secretName: string; items: { key: string; path: string }[] } }[];
      };
    };
    egress?: { to?: object[]; ports?: { port: number }[] }[];
    jobLabel?: string;
  };
}

const run = promisify(execFile);
let folder: string;
let byDefault: KubernetesObject[];
let whole: KubernetesObject[];
let settings: Record<string, AskedSetting[]>;

async function rendered(set: readonly string[]): Promise<KubernetesObject[]> {
  const args = ['template', 'shop', CHART, ...OLDEST, ...set.flatMap((each) => ['--set', each])];
  const { stdout } = await run(HELM, args, { maxBuffer: 16 * 2 ** 20 });
  return parseAllDocuments(stdout)
    .map((document) => document.toJS() as KubernetesObject | null)
    .filter((object) => object !== null);
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tollgate-chart-'));
  [byDefault, whole] = await Promise.all([rendered([]), rendered(EVERYTHING)]);
  const script = pathToFileURL(join(root, 'scripts/lib/configuration.mjs')).href;
  const { programSettings } = (await import(script)) as {
    programSettings: (load: (alias: string) => Promise<object>) => Promise<typeof settings>;
  };
  settings = await programSettings((alias) => import(alias) as Promise<object>);
});
afterAll(() => rm(folder, { recursive: true }));

function objectOf(objects: readonly KubernetesObject[], kind: string, program: string): KubernetesObject {
  const found = objects.find((each) => each.kind === kind && each.metadata.name === `shop-${program}`);
  if (!found) throw new Error(`The chart makes no ${kind} shop-${program}.`);
  return found;
}

function podOf(objects: readonly KubernetesObject[], program: string) {
  return objectOf(objects, program === 'migrate' ? 'Job' : 'Deployment', program).spec.template.spec;
}

it('lets a program’s value override the shared one, and both override the chart’s, even empty ones', async () => {
  const set = ['variables.HOST=::', 'variables.SMTP_URL=x', 'programs.control-plane.variables.SMTP_URL='];
  const [container] = podOf(await rendered(set), 'control-plane').containers;
  const of = (name: string) => container.env.filter((each) => each.name === name).map(({ value }) => value);
  expect([of('HOST'), of('SMTP_URL')]).toEqual([['::'], ['']]);
});

it('mounts nothing of the Secret for a program that reads nothing of it', async () => {
  const { volumes } = podOf(await rendered(['programs.billing.secrets.DATABASE_PASSWORD=null']), 'billing');
  expect(volumes.find(({ name }) => name === 'secrets')).toEqual({ name: 'secrets', emptyDir: {} });
});

it('passes helm lint', () => {
  const output = execFileSync(HELM, ['lint', '--strict', CHART, ...OLDEST], { encoding: 'utf8' });
  expect(output).toContain('0 chart(s) failed');
});

it.each(VERSIONS)('describes objects that Kubernetes %s knows', async (version) => {
  const plain = [...byDefault, ...whole].filter(({ kind }) => kind !== 'ServiceMonitor');
  const file = join(folder, `${version}.yaml`);
  await writeFile(file, plain.map((object) => JSON.stringify(object)).join('\n---\n'));
  await run(VALIDATE, ['--strict', '-k', version, file]);
});

it('is refused with unknown values', async () => {
  await expect(rendered(['programs.gatway.replicas=3'])).rejects.toThrow(/gatway/);
  await expect(rendered(['kafka.brokers=kafka'])).rejects.toThrow(/brokers/);
  // Helm writes large numbers from a values file as 2.592e+06.
  await expect(rendered(['variables.SESSION_LONGEST_SECONDS=2592000'])).rejects.toThrow(/string/);
});

it('creates objects of these kinds', () => {
  const kinds = [...new Set(byDefault.map(({ kind }) => kind))].sort();
  expect(kinds).toEqual([
    'Deployment',
    'HorizontalPodAutoscaler',
    'Job',
    'NetworkPolicy',
    'PodDisruptionBudget',
    'Service',
  ]);
  const more = [...new Set(whole.map(({ kind }) => kind))].filter((kind) => !kinds.includes(kind)).sort();
  expect(more).toEqual(['Ingress', 'PersistentVolumeClaim', 'ServiceMonitor']);
});

it.each(PROGRAMS)('has %s scraped as the job that alerts name', (program) => {
  const { jobLabel = '' } = objectOf(whole, 'ServiceMonitor', program).spec;
  const { labels } = objectOf(whole, 'Service', program).metadata;
  const rules = readFileSync(join(root, 'monitoring/prometheus/rules/customers.yml'), 'utf8');
  expect(rules).toContain(`up{job="${labels[jobLabel]}"}`);
});

describe.each([...PROGRAMS, 'migrate'])('%s', (program) => {
  it('gets the variables that it needs, and none that it does not read', async () => {
    const script = pathToFileURL(join(root, 'scripts/lib/programs.mjs')).href;
    const { programs } = (await import(script)) as {
      programs: Record<string, { entry: string; environment: (place: object, of: object) => object }>;
    };
    const local = programs[program]!;
    const read = settings[NAMES[program] ?? program]!.flatMap((setting) =>
      setting.isLogin ? [setting.name, passwordOf(setting.name)] : [setting.name],
    );
    const place = { databaseUrl: () => '', passwords: {}, brokers: [] };
    for (const objects of [byDefault, whole]) {
      const [container] = podOf(objects, program).containers;
      const given = container.env.map(({ name }) => name.replace(/_FILE$/, ''));
      expect(container.command).toEqual(['node', local.entry]);
      expect(given.filter((name) => !read.includes(name) && name !== 'LOG_LEVEL')).toEqual([]);
      const optional = [
        'STORAGE_DIR',
        'ADMIN_DATABASE_URL',
        'SANDBOX_URL',
        'SANDBOX_API_KEY',
        'MAIL_FROM',
        'SMTP_URL',
      ];
      const needed = Object.keys(local.environment(place, {})).filter((name) => !optional.includes(name));
      expect(needed.filter((name) => !given.includes(name))).toEqual([]);
    }
  });

  it('reads secrets from files, and only its own', () => {
    const { containers, volumes } = podOf(whole, program);
    const secret = /PASSWORD$|SECRET$|_KEY(_ID)?$|SMTP_URL$/;
    const shown = containers[0].env.filter(({ name, value }) => secret.test(name) || /:[^/]*@/.test(value));
    expect(shown).toEqual([]);
    const files = containers[0].env.filter(({ name }) => name.endsWith('_FILE'));
    const items = volumes.find(({ name }) => name === 'secrets')!.secret!.items;
    expect(files.map(({ value }) => value)).toEqual(items.map(({ path }) => `/run/secrets/tollgate/${path}`));
    expect(files.map(({ name }) => name.replace(/_FILE$/, ''))).toEqual(items.map(({ path }) => path));
  });

  it('runs without any privilege, and writes only to mounted folders', () => {
    const { containers, securityContext } = podOf(byDefault, program);
    expect(securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } });
    expect(containers[0].securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
  });

  it('may call what it has to, and billing nothing else', () => {
    const { egress = [] } = objectOf(byDefault, 'NetworkPolicy', program).spec;
    const isAnywhere = egress.some((rule) => Object.keys(rule).length === 0);
    expect(isAnywhere).toBe(!['billing', 'migrate'].includes(program));
    const { egress: named = [] } = objectOf(whole, 'NetworkPolicy', program).spec;
    const ports = named.flatMap(({ ports: of = [] }) => of.map(({ port }) => port));
    expect(ports).toEqual(program === 'migrate' ? [53, 53, 5432] : [53, 53, 5432, 9092, 9094]);
  });
});

it.each(PROGRAMS)('%s has probes, a budget, and one more pod while it is replaced', (program) => {
  const [container] = podOf(byDefault, program).containers;
  expect(container.readinessProbe).toMatchObject({ httpGet: { path: '/health/ready' } });
  expect(container.livenessProbe).toMatchObject({ httpGet: { path: '/health/live' } });
  expect(objectOf(byDefault, 'PodDisruptionBudget', program).spec).toMatchObject({ maxUnavailable: 1 });
  expect(objectOf(byDefault, 'Deployment', program).spec).toMatchObject({
    strategy: { rollingUpdate: { maxUnavailable: 0 } },
  });
});

it('runs migrations before anything else of a version starts', () => {
  expect(objectOf(byDefault, 'Job', 'migrate').metadata.annotations).toMatchObject({
    'helm.sh/hook': 'pre-install,pre-upgrade',
  });
});
