import { execFile, spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { closeSync, mkdirSync, openSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { until } from '../support/eventually.js';
import { configurations } from './configurations.js';
import { type Place, readPlace } from './place.js';

const run = promisify(execFile);
const MOST_OUTPUT_BYTES = 64 * 2 ** 20;
const LAST_LINES = 15;

/**
 * A Kubernetes cluster of one node: its store, control plane, kubelet and network, all in the namespaces that this
 * process runs in. They end with it, so nothing here stops them.
 */
export class Node {
  private constructor(readonly place: Place) {}

  static async start(): Promise<Node> {
    const node = new Node(readPlace());
    try {
      await node.startAll();
    } catch (error) {
      throw new Error(`${(error as Error).message}\n${node.logs()}`, { cause: error });
    }
    return node;
  }

  /** Runs a kubectl or Helm command as the cluster's administrator. @returns its standard output */
  async run(program: string, ...args: string[]): Promise<string> {
    const { folder } = this.place;
    const env = {
      ...process.env,
      KUBECONFIG: this.file('kubeconfig'),
      HOME: folder,
    };
    try {
      return (await run(program, args, { env, maxBuffer: MOST_OUTPUT_BYTES })).stdout;
    } catch (error) {
      throw new Error(`${(error as Error).message}\n${(error as { stdout: string }).stdout}`, {
        cause: error,
      });
    }
  }

  readonly kubectl = (...args: string[]) => this.run(this.program('kubectl'), ...args);

  async get<T>(...args: string[]): Promise<T> {
    return JSON.parse(await this.kubectl('get', '--output', 'json', ...args)) as T;
  }

  async apply(...objects: object[]): Promise<void> {
    const file = this.file('objects.json');
    writeFileSync(file, objects.map((object) => JSON.stringify(object)).join('\n'));
    await this.kubectl('apply', '--filename', file);
  }

  /** The end of the output of each of the node's programs. */
  logs(): string {
    const folder = this.file('logs');
    return readdirSync(folder)
      .map(
        (name) =>
          `${name}:\n${readFileSync(join(folder, name), 'utf8').split('\n').slice(-LAST_LINES).join('\n')}`,
      )
      .join('\n');
  }

  private async startAll(): Promise<void> {
    mkdirSync(this.file('logs'));
    this.writeFiles();
    const { folder, address, services } = this.place;
    this.spawn('containerd', ['--config', this.file('containerd.toml')]);
    this.spawn(this.program('etcd'), ['--data-dir', this.file('etcd'), '--unsafe-no-fsync']);
    this.spawn(this.program('kube-apiserver'), [
      '--etcd-servers=http://127.0.0.1:2379',
      '--bind-address=127.0.0.1',
      `--advertise-address=${address}`,
      `--cert-dir=${this.file('certificates')}`,
      `--service-cluster-ip-range=${services}`,
      '--service-account-issuer=https://kubernetes.default.svc',
      `--service-account-signing-key-file=${this.file('accounts.key')}`,
      `--service-account-key-file=${this.file('accounts.key')}`,
      `--token-auth-file=${this.file('tokens.csv')}`,
      '--authorization-mode=RBAC',
      '--kubelet-preferred-address-types=InternalIP',
    ]);
    await until('the API server to be ready', () =>
      this.kubectl('get', '--raw', '/readyz').catch(() => null),
    );
    await this.importImages();
    const client = `--kubeconfig=${this.file('kubeconfig')}`;
    this.spawn(this.program('kube-controller-manager'), [
      client,
      '--leader-elect=false',
      '--horizontal-pod-autoscaler-sync-period=3s',
      `--service-account-private-key-file=${this.file('accounts.key')}`,
      `--cert-dir=${this.file('certificates')}`,
    ]);
    this.spawn(this.program('kube-scheduler'), [client, '--leader-elect=false']);
    this.spawn(this.program('kube-proxy'), [`--config=${this.file('kube-proxy.json')}`]);
    this.spawn(this.program('kubelet'), [
      client,
      `--config=${this.file('kubelet.json')}`,
      `--root-dir=${folder}/kubelet`,
      `--cert-dir=${this.file('certificates')}`,
      '--hostname-override=node',
      `--node-ip=${address}`,
    ]);
    const isReady = () =>
      this.kubectl('wait', '--for=condition=Ready', 'node/node', '--timeout=5s').catch(() => null);
    await until('the node to be ready', isReady, { state: () => this.logs() });
    // It looks up the node when it starts.
    this.spawn(this.place.router, [
      client,
      '--run-firewall',
      '--run-router=false',
      '--run-service-proxy=false',
      '--enable-cni=false',
      '--health-port=0',
      '--hostname-override=node',
      `--service-cluster-ip-range=${services}`,
    ]);
  }

  private async importImages(): Promise<void> {
    const ctr = (...args: string[]) =>
      run('ctr', ['--address', this.place.runtime, '--namespace', 'k8s.io', ...args]);
    await until('containerd to answer', () => ctr('version').catch(() => null));
    await ctr('images', 'import', this.file('images.tar'));
  }

  private writeFiles(): void {
    const { privateKey } = generateKeyPairSync('rsa', {
      modulusLength: 2048,
      publicKeyEncoding: { type: 'spki', format: 'pem' },
      privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
    });
    writeFileSync(this.file('accounts.key'), privateKey);
    for (const [name, content] of Object.entries(configurations(this.place))) {
      mkdirSync(join(this.file(name), '..'), { recursive: true });
      writeFileSync(this.file(name), typeof content === 'string' ? content : JSON.stringify(content));
    }
  }

  /** Starts a program that ends with the node. */
  spawn(program: string, args: string[]): void {
    const log = openSync(this.file(`logs/${program.split('/').at(-1)}`), 'a');
    spawn(program, args, { stdio: ['ignore', log, log] })
      .on('error', () => undefined)
      .unref();
    closeSync(log);
  }

  private file(name: string): string {
    return join(this.place.folder, name);
  }

  private program(name: string): string {
    return join(this.place.programs, name);
  }
}
