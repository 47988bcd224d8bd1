/** Where the node of a cluster runs, as prepared by the stage that runs the specs. */
export interface Place {
  folder: string;
  /** The folders of Kubernetes' programs, and of its network plugins. */
  programs: string;
  plugins: string;
  /** What enforces network policies, and what offers metrics to autoscalers. */
  router: string;
  adapter: string;
  controlGroup: string;
  /** The container runtime's socket. */
  runtime: string;
  /** The node's own address, and the ranges of services and pods. */
  address: string;
  services: string;
  pods: string;
  /** At this address, pods reach what listens on the node's loopback address. */
  bridge: string;
}

export function readPlace(): Place {
  const folder = asked('TOLLGATE_NODE');
  return {
    folder,
    programs: asked('TOLLGATE_KUBERNETES'),
    plugins: asked('TOLLGATE_CNI_PLUGINS'),
    router: asked('TOLLGATE_KUBE_ROUTER'),
    adapter: asked('TOLLGATE_METRICS_ADAPTER'),
    controlGroup: asked('CONTROL_GROUP'),
    runtime: `${folder}/containerd.sock`,
    address: asked('NODE_ADDRESS'),
    services: asked('SERVICE_ADDRESSES'),
    pods: asked('POD_ADDRESSES'),
    bridge: asked('BRIDGE_ADDRESS'),
  };
}

function asked(name: string): string {
  const value = process.env[name];
  if (!value)
    throw new Error(`There is no cluster here (${name} is not set): use npm test -- --only cluster.`);
  return value;
}
