import { type ChildProcess, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { endChild, endWithThisProcess } from '../support/children.js';
import { until } from '../support/eventually.js';
import { freePort } from '../support/free-port.js';

const MANIFESTS = [
  'application/vnd.docker.distribution.manifest.v2+json',
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.oci.image.index.v1+json',
];
const CONFIGURATION = `version: 0.1
storage: { filesystem: { rootdirectory: FOLDER } }
http: { addr: 'HOST' }
`;

/** An image registry. Engines use it without TLS because it is at 127.0.0.1. */
export class Registry {
  private constructor(
    readonly host: string,
    private readonly program: ChildProcess,
    private readonly lift: () => Promise<void>,
  ) {}

  static async start(program: string, folder: string): Promise<Registry> {
    const host = `127.0.0.1:${await freePort()}`;
    const configuration = join(folder, 'registry.yml');
    const text = CONFIGURATION.replace('FOLDER', join(folder, 'registry')).replace('HOST', host);
    writeFileSync(configuration, text);
    const child = spawn(program, ['serve', configuration], { stdio: 'ignore' });
    const lift = endWithThisProcess(child.pid!, 'TERM');
    const registry = new Registry(host, child, lift);
    await until('the registry to answer', () => registry.answers());
    return registry;
  }

  private async answers(): Promise<boolean> {
    if (this.program.exitCode !== null) throw new Error(`The registry ended with ${this.program.exitCode}.`);
    const answer = await fetch(`http://${this.host}/v2/`).catch(() => undefined);
    return answer?.status === 200;
  }

  async digestOf(repository: string, tag: string): Promise<string> {
    const address = `http://${this.host}/v2/${repository}/manifests/${tag}`;
    const { headers } = await fetch(address, { method: 'HEAD', headers: { accept: MANIFESTS.join(', ') } });
    return headers.get('docker-content-digest')!.replace('sha256:', '');
  }

  async stop(): Promise<void> {
    await endChild(this.program, 'SIGTERM');
    await this.lift();
  }
}
