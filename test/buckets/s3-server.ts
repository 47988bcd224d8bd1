import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { S3Client } from '@aws-sdk/client-s3';
import { S3Store } from '#storage/s3.store.js';
import { endChild, endWithThisProcess } from '../support/children.js';
import { until } from '../support/eventually.js';
import { freePort } from '../support/free-port.js';

const SCRIPT = pathToFileURL(join(import.meta.dirname, '../../scripts/lib/s3-server.mjs')).href;
const REGION = 'eu-central-1';
const LOGIN = { accessKeyId: 'key-id', secretAccessKey: 'a-secret' };

type Fetch = (say: () => void) => { java: string; jars: string } | { why: string };

/** S3Proxy, a third-party server that checks signatures, and stores each bucket in a folder. */
export class S3Server {
  private child: ChildProcess | undefined;
  private lift = async () => {};
  private port = 0;

  private constructor(
    private readonly program: readonly string[],
    private readonly folder: string,
  ) {}

  static async start(...buckets: string[]): Promise<S3Server> {
    const { fetchS3Server } = (await import(SCRIPT)) as { fetchS3Server: Fetch };
    const found = fetchS3Server(() => undefined);
    if ('why' in found) throw new Error(found.why);
    const folder = mkdtempSync(join(tmpdir(), 's3-server-'));
    const logging = join(folder, 'logging.xml');
    writeFileSync(logging, '<configuration><root level="OFF"/></configuration>');
    for (const bucket of buckets) mkdirSync(join(folder, 'buckets', bucket), { recursive: true });
    const options = ['-Xmx128m', '-XX:TieredStopAtLevel=1', `-Dlogback.configurationFile=${logging}`];
    const main = ['-cp', join(found.jars, '*'), 'org.gaul.s3proxy.Main'];
    const server = new S3Server([found.java, ...options, ...main], folder);
    await server.restart();
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** The folder of a bucket. */
  folderOf(bucket: string): string {
    return join(this.folder, 'buckets', bucket);
  }

  /** The settings that a relay reads. */
  get settings(): Record<string, string> {
    return {
      S3_ENDPOINT: this.url,
      S3_REGION: REGION,
      S3_ACCESS_KEY_ID: LOGIN.accessKeyId,
      S3_SECRET_ACCESS_KEY: LOGIN.secretAccessKey,
    };
  }

  store(bucket: string, login: Partial<typeof LOGIN> = {}): S3Store {
    const place = { endpoint: this.url, region: REGION, forcePathStyle: true };
    return new S3Store({ ...place, ...LOGIN, bucket, ...login });
  }

  /** For changes behind a store's back. */
  client(): S3Client {
    return new S3Client({
      endpoint: this.url,
      region: REGION,
      forcePathStyle: true,
      credentials: LOGIN,
    });
  }

  /** Restarts the server with what it has stored, on another port. */
  async restart(): Promise<void> {
    this.port = await freePort();
    const configuration = join(this.folder, 's3proxy.conf');
    writeFileSync(configuration, configurationOf(this.port, join(this.folder, 'buckets')));
    const [command, ...args] = this.program as [string, ...string[]];
    const child = spawn(command, [...args, '--properties', configuration], { stdio: 'ignore' });
    this.child = child;
    this.lift = endWithThisProcess(child.pid!, 'TERM');
    await until('the S3 server to answer', async () => {
      if (child.exitCode !== null) throw new Error(`The S3 server ended with ${child.exitCode}.`);
      return (await fetch(this.url).catch(() => undefined)) !== undefined;
    });
  }

  async kill(): Promise<void> {
    if (!this.child) return;
    await endChild(this.child, 'SIGKILL');
    await this.lift();
    this.child = undefined;
  }

  async close(): Promise<void> {
    await this.kill();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

function configurationOf(port: number, folder: string): string {
  return `s3proxy.endpoint=http://127.0.0.1:${port}
s3proxy.authorization=aws-v4
s3proxy.identity=${LOGIN.accessKeyId}
s3proxy.credential=${LOGIN.secretAccessKey}
jclouds.provider=filesystem-nio2
jclouds.filesystem.basedir=${folder}
`;
}
