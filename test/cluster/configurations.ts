import type { Place } from './place.js';

const API = 'https://127.0.0.1:6443';
/** The administrator's token, in a cluster that nothing outside can reach. */
const TOKEN = 'administrator';
const PAUSE_IMAGE = 'docker.io/library/tollgate-pause:test';

/** The files that a node's programs read, by their names in its folder. */
export function configurations(place: Place): Record<string, string | object> {
  return {
    'tokens.csv': `${TOKEN},administrator,administrator,system:masters\n`,
    kubeconfig: kubeconfig(),
    'kubelet.json': kubelet(place),
    'kube-proxy.json': kubeProxy(place),
    'containerd.toml': containerd(place),
    'networks/bridge.conflist': bridge(place),
  };
}

function kubeconfig(): object {
  return {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'node', cluster: { server: API, 'insecure-skip-tls-verify': true } }],
    users: [{ name: 'administrator', user: { token: TOKEN } }],
    contexts: [{ name: 'node', context: { cluster: 'node', user: 'administrator' } }],
    'current-context': 'node',
  };
}

function kubelet({ runtime, controlGroup }: Place): object {
  return {
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    authentication: { anonymous: { enabled: true }, webhook: { enabled: false } },
    authorization: { mode: 'AlwaysAllow' },
    cgroupDriver: 'cgroupfs',
    cgroupRoot: `/${controlGroup}`,
    containerRuntimeEndpoint: `unix://${runtime}`,
    failSwapOn: false,
    // The disk belongs to the machine, not to this node. However full it is, evict nothing and remove no image.
    evictionHard: {
      'memory.available': '50Mi',
      'nodefs.available': '0%',
      'imagefs.available': '0%',
      'nodefs.inodesFree': '0%',
    },
    imageGCHighThresholdPercent: 100,
  };
}

/** Without its own limits on connections, which belong to the whole machine. */
function kubeProxy({ folder, pods }: Place): object {
  return {
    apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
    kind: 'KubeProxyConfiguration',
    clientConnection: { kubeconfig: `${folder}/kubeconfig` },
    hostnameOverride: 'node',
    mode: 'iptables',
    clusterCIDR: pods,
    conntrack: { maxPerCore: 0, min: 0, tcpEstablishedTimeout: '0s', tcpCloseWaitTimeout: '0s' },
  };
}

/**
 * Root in a container may not protect a process from the kernel's out-of-memory killer, and may not load an AppArmor
 * profile.
 */
function containerd({ folder, runtime, plugins }: Place): string {
  return `version = 2
root = "${folder}/containerd"
state = "${folder}/containerd.state"
[grpc]
  address = "${runtime}"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "${PAUSE_IMAGE}"
  disable_apparmor = true
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "${plugins}"
    conf_dir = "${folder}/networks"
`;
}

/** Pods reach services through its gateway. */
function bridge({ folder, pods }: Place): object {
  const ipam = { type: 'host-local', ranges: [[{ subnet: pods }]], dataDir: `${folder}/addresses` };
  return {
    cniVersion: '1.0.0',
    name: 'pods',
    plugins: [{ type: 'bridge', bridge: 'pods', isDefaultGateway: true, hairpinMode: true, ipam }],
  };
}
