import { once } from 'node:events';
import { cpSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { until } from '../support/eventually.js';
import { type Installation, PROGRAMS, RELEASE, SPACE } from './installation.js';
import type { Place } from './place.js';

const RULES = join(import.meta.dirname, '../../monitoring/prometheus/adapter.yml');
const PROMETHEUS = '127.0.0.1:9090';
const ADAPTER_PORT = 6444;
const KUBELET_PORT = 10_250;
const HEALTH_PORT = 9464;
const NAME = 'prometheus-adapter';
const SYSTEM = 'kube-system';
/** The API server's requests are anonymous: it has no certificate by which the adapter would know it. */
const ANYBODY = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'system:unauthenticated' };

interface Autoscaler {
  status: { currentMetrics?: object[] | null };
  spec: { metrics: object[] };
}

/** A Prometheus that watches the pods, and an adapter that offers its metrics to the chart's autoscalers. */
export class Autoscalers {
  private constructor(
    private readonly chart: Installation,
    private readonly targets: Server,
  ) {}

  static async start(chart: Installation): Promise<Autoscalers> {
    const { node } = chart;
    const folder = node.place.folder;
    const targets = await serveTargets(chart);
    const { port } = targets.address() as AddressInfo;
    writeFileSync(
      join(folder, 'prometheus.yml'),
      JSON.stringify(scraping(node.place, `http://127.0.0.1:${port}`)),
    );
    node.spawn(join(process.env['TOLLGATE_PROMETHEUS'] ?? '', 'prometheus'), [
      `--config.file=${join(folder, 'prometheus.yml')}`,
      `--storage.tsdb.path=${join(folder, 'prometheus')}`,
      `--web.listen-address=${PROMETHEUS}`,
      '--log.level=warn',
    ]);
    cpSync(RULES, join(folder, 'adapter.yml'));
    node.spawn(node.place.adapter, adapter(folder));
    await node.apply(...aggregation(node.place));
    return new Autoscalers(chart, targets);
  }

  /** Waits until a program's autoscaler has a value for each of its metrics. */
  async know(program: string): Promise<void> {
    await until(
      `metrics of ${program}`,
      async () => {
        const { spec, status } = await this.chart.get<Autoscaler>('hpa', `${RELEASE}-${program}`);
        return status.currentMetrics?.length === spec.metrics.length && status.currentMetrics.every(isKnown);
      },
      { state: () => this.chart.node.logs() },
    );
  }

  stop(): void {
    this.targets.close();
  }

  /** Removes the chart's ten-minute wait before the autoscaler takes pods away. */
  async calm(program: string): Promise<void> {
    const at = { spec: { behavior: { scaleDown: { stabilizationWindowSeconds: 0 } } } };
    await this.chart.kubectl('patch', 'hpa', `${RELEASE}-${program}`, '--patch', JSON.stringify(at));
  }
}

/** Debian's Prometheus cannot ask Kubernetes itself. */
async function serveTargets(chart: Installation): Promise<Server> {
  const server = createServer((_, response) => {
    void targetsOf(chart).then(
      (found) => response.setHeader('content-type', 'application/json').end(JSON.stringify(found)),
      () => response.writeHead(503).end(),
    );
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

async function targetsOf(chart: Installation): Promise<object[]> {
  const pods = (await Promise.all(PROGRAMS.map((program) => chart.podsOf(program)))).flat();
  return pods.flatMap(({ metadata: { name }, status: { podIP } }) =>
    podIP ? [{ targets: [`${podIP}:${HEALTH_PORT}`], labels: { namespace: SPACE, pod: name } }] : [],
  );
}

/** Metrics without a value are listed without their names. */
function isKnown(metric: object): boolean {
  return (metric as { type: string }).type !== '';
}

function scraping({ address }: Place, targetsUrl: string): object {
  const pods = {
    job_name: 'tollgate',
    http_sd_configs: [{ url: targetsUrl, refresh_interval: '2s' }],
  };
  const kubelet = {
    job_name: 'kubelet',
    scheme: 'https',
    metrics_path: '/metrics/resource',
    tls_config: { insecure_skip_verify: true },
    static_configs: [{ targets: [`${address}:${KUBELET_PORT}`] }],
  };
  return { global: { scrape_interval: '2s' }, scrape_configs: [pods, kubelet] };
}

function adapter(folder: string): string[] {
  const kubeconfig = join(folder, 'kubeconfig');
  return [
    `--config=${join(folder, 'adapter.yml')}`,
    `--prometheus-url=http://${PROMETHEUS}`,
    '--metrics-relist-interval=5s',
    `--lister-kubeconfig=${kubeconfig}`,
    `--authentication-kubeconfig=${kubeconfig}`,
    `--authorization-kubeconfig=${kubeconfig}`,
    '--authentication-tolerate-lookup-failure',
    `--secure-port=${ADAPTER_PORT}`,
    `--cert-dir=${join(folder, 'adapter-certificates')}`,
  ];
}

/** Makes the API server forward requests for metrics to the adapter, which runs beside it. */
function aggregation({ address }: Place): object[] {
  const named = { metadata: { name: NAME, namespace: SYSTEM } };
  const api = (group: string, version: string) => ({
    apiVersion: 'apiregistration.k8s.io/v1',
    kind: 'APIService',
    metadata: { name: `${version}.${group}` },
    spec: {
      service: { name: NAME, namespace: SYSTEM },
      group,
      version,
      insecureSkipTLSVerify: true,
      groupPriorityMinimum: 100,
      versionPriority: 100,
    },
  });
  const groups = ['metrics.k8s.io', 'custom.metrics.k8s.io'];
  return [
    {
      apiVersion: 'v1',
      kind: 'Service',
      ...named,
      spec: { ports: [{ port: 443, targetPort: ADAPTER_PORT }] },
    },
    {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { ...named.metadata, labels: { 'kubernetes.io/service-name': NAME } },
      addressType: 'IPv4',
      ports: [{ name: '', port: ADAPTER_PORT }],
      endpoints: [{ addresses: [address] }],
    },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name: NAME },
      rules: [
        { apiGroups: groups, resources: ['*'], verbs: ['get', 'list'] },
        { nonResourceURLs: ['*'], verbs: ['get'] },
      ],
    },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name: NAME },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: NAME },
      subjects: [ANYBODY],
    },
    api('metrics.k8s.io', 'v1beta1'),
    api('custom.metrics.k8s.io', 'v1beta2'),
  ];
}
