/** Where the node of a cluster runs, as the stage that runs the specs prepared it. */
export interface Place {
  folder: string;
  /** The folders of the programs of Kubernetes, and of the plugins that make networks of pods. */
  programs: string;
  plugins: string;
  /** What enforces network policies, and what offers metrics to autoscalers. */
  router: string;
  adapter: string;
  controlGroup: string;
  /** The socket of the container runtime. */
  runtime: string;
  /** The node's own address, and those of services and pods. */
  address: string;
  services: string;
  pods: string;
  /** Under it, pods reach what listens on the node's loopback address. */
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
