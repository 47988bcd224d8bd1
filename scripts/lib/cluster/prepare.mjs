// What the cluster specs need: the programs of a Kubernetes node, the project's image, and namespaces to run in.
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { root } from '../clone.mjs';
import { runCommand } from '../containers/run.mjs';
import { unpackPackage } from '../debian-package.mjs';
import { installGo } from '../go.mjs';
import { missingPrograms } from '../system-packages.mjs';
import { findKubernetes } from './kubernetes.mjs';

const IMAGE = 'tollgate:test';
const PAUSE_IMAGE = 'tollgate-pause:test';
const GROUPS = '/sys/fs/cgroup';
const PACKAGES = { containerd: 'containerd', runc: 'runc', iptables: 'iptables', ipset: 'ipset' };
/** What enforces network policies, and what offers Prometheus's metrics to autoscalers. */
const ROUTER = {
  name: 'kube-router',
  module: 'github.com/cloudnativelabs/kube-router/v2',
  package: 'cmd/kube-router',
  version: 'v2.1.0',
};
const ADAPTER = {
  name: 'prometheus-adapter',
  module: 'sigs.k8s.io/prometheus-adapter',
  package: 'cmd/adapter',
  version: 'v0.12.0',
};

/**
 * @typedef {object} ClusterPlace
 * @property {string[]} under the command that runs another one in the cluster's own namespaces
 * @property {Record<string, string>} env for it and for the specs
 */

/**
 * @param {Record<string, string>} engine how to reach `docker`
 * @param {(text: string) => void} say
 * @returns {Promise<ClusterPlace | { why: string }>}
 */
export async function prepareCluster(engine, say) {
  if (process.getuid?.() !== 0) return { why: 'only root can run the node of a cluster' };
  const missing = missingPrograms(PACKAGES, say);
  if (missing !== null) return { why: missing };
  const kubernetes = findKubernetes(say);
  if (kubernetes.why !== undefined) return kubernetes;
  const router = installGo({ ...ROUTER, say });
  if (router.why !== undefined) return router;
  const adapter = installGo({ ...ADAPTER, say });
  if (adapter.why !== undefined) return adapter;
  const plugins = join(root, '.cache', 'cni-plugins');
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-node-'));
  process.once('exit', () => removeNode(folder));
  // The specs' database server, which does not run as root, passes through.
  chmodSync(folder, 0o711);
  mkdirSync(temporaryIn(folder));
  try {
    if (!existsSync(plugins)) unpackPackage('containernetworking-plugins', plugins);
    say("Building the project's image …");
    await saveImages(join(folder, 'images.tar'), { pause: join(kubernetes.folder, 'pause'), engine });
    const programs = {
      TOLLGATE_KUBERNETES: kubernetes.folder,
      TOLLGATE_CNI_PLUGINS: join(plugins, 'usr', 'lib', 'cni'),
      TOLLGATE_KUBE_ROUTER: router.program,
      TOLLGATE_METRICS_ADAPTER: adapter.program,
    };
    return { under: under(folder), env: { ...programs, ...environment(folder) } };
  } catch (error) {
    return { why: `the node of a cluster cannot be prepared (${error.message})` };
  }
}

/** The build reaches the registries in the same way as this machine. */
async function saveImages(file, { pause, engine }) {
  const env = { ...engine, DOCKER_BUILDKIT: '0' };
  await runCommand(['docker', 'build', '--quiet', '--network', 'host', '--tag', IMAGE, root], { env });
  const context = mkdtempSync(join(tmpdir(), 'tollgate-pause-'));
  try {
    await runCommand(['tar', '-C', join(pause, '..'), '-cf', join(context, 'pause.tar'), 'pause']);
    const made = ['--change', 'ENTRYPOINT ["/pause"]', join(context, 'pause.tar'), PAUSE_IMAGE];
    await runCommand(['docker', 'import', ...made], { env });
  } finally {
    rmSync(context, { recursive: true, force: true });
  }
  await runCommand(['docker', 'save', '--output', file, IMAGE, PAUSE_IMAGE], { env });
}

function under(folder) {
  const namespaces = ['--mount', '--net', '--pid', '--fork', '--mount-proc', '--kill-child'];
  return ['unshare', ...namespaces, join(import.meta.dirname, 'inside.sh'), folder];
}

/** Whatever the specs leave behind if they are stopped is removed with the node. */
function temporaryIn(folder) {
  return join(folder, 'tmp');
}

/** Addresses that only this cluster uses. None of them leads outside. */
function environment(folder) {
  return {
    TOLLGATE_NODE: folder,
    TMPDIR: temporaryIn(folder),
    NODE_ADDRESS: '10.99.0.1',
    SERVICE_ADDRESSES: '10.96.0.0/16',
    POD_ADDRESSES: '10.244.0.0/24',
    BRIDGE_ADDRESS: '10.244.0.1',
    CONTROL_GROUP: basename(folder),
  };
}

/** The kernel removed the rest when the last process in the namespaces ended. */
function removeNode(folder) {
  const places = [GROUPS, ...readdirSync(GROUPS).map((name) => join(GROUPS, name))];
  const groups = places.map((place) => join(place, basename(folder))).filter((group) => existsSync(group));
  for (const group of groups) spawnSync('find', [group, '-depth', '-type', 'd', '-exec', 'rmdir', '{}', ';']);
  rmSync(folder, { recursive: true, force: true });
}
