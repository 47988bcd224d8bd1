import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import OpenAI from 'openai';
import pg from 'pg';
import { pino } from 'pino';
import { startEmbeddedPostgres } from '#database/embedded-postgres.js';
import { formatAmount, parseAmount } from '#money/amount.js';
import { UNHURRIED } from '../support/durations.js';
import {
  ensureBuilt,
  killLaunched,
  launch,
  run,
  STANDALONE,
  type StandaloneProcess,
  startStandalone,
} from '../support/programs.js';
import { until } from '../support/relay.js';

const CLI = 'apps/cli/bin/tollgate.mjs';

let folder: string;

beforeAll(() => {
  ensureBuilt();
  folder = mkdtempSync(join(tmpdir(), 'tollgate-standalone-'));
});

afterAll(async () => {
  await killLaunched();
  // A killed relay leaves its database server running. A start and a clean stop remove it.
  await startEmbeddedPostgres({ dataDir: join(dataDir(), 'database'), log: pino({ level: 'silent' }) }).then(
    (server) => server.stop(),
    () => undefined,
  );
  rmSync(folder, { recursive: true, force: true });
});

const dataDir = () => join(folder, 'data');
const environment = () => ({
  ...UNHURRIED,
  DATA_DIR: dataDir(),
  SANDBOX_VIDEO_SECONDS: '1',
  POLL_INTERVAL_SECONDS: '0.2',
});

const start = () => startStandalone(environment());

function sdk({ baseUrl, apiKey }: StandaloneProcess): OpenAI {
  return new OpenAI({ apiKey, baseURL: `${baseUrl}/v1`, maxRetries: 0 });
}

function less(amount: string, spent: string): string {
  return formatAmount(parseAmount(amount) - parseAmount(spent));
}

async function balance(): Promise<{ main: string; held: string }> {
  const { accountId } = JSON.parse(readFileSync(join(dataDir(), 'demo-account.json'), 'utf8')) as {
    accountId: string;
  };
  const { stdout } = await run(CLI, ['accounts', 'show', accountId, '--json'], environment());
  const { main, held } = JSON.parse(stdout) as { main: string; held: string };
  return { main, held };
}

async function expectCleanLedger(): Promise<void> {
  const { stdout, code } = await run(CLI, ['ledger', 'check', '--json'], environment());
  expect(JSON.parse(stdout)).toEqual({ ok: true, violations: [] });
  expect(code).toBe(0);
}

describe('a standalone relay', () => {
  it('prints one line when it is ready, with a funded account, and stops cleanly', async () => {
    const relay = await start();
    expect(relay.stdout().trim().split('\n')).toHaveLength(1);
    expect(JSON.parse(relay.stdout())).toEqual({
      ready: true,
      baseUrl: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      consoleUrl: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
      apiKey: expect.stringMatching(/^sk-tg-/),
      pid: expect.any(Number),
    });
    expect((await fetch(`${relay.consoleUrl}/api/status`)).status).toBe(200);
    const models = await sdk(relay).models.list();
    expect(models.data.map(({ id }) => id)).toContain('vendora-imagine-video-1.5');
    expect(await balance()).toEqual({ main: '10', held: '0' });
    for (const secret of ['demo-account.json', 'secrets.json']) {
      expect(statSync(join(dataDir(), secret)).mode & 0o777).toBe(0o600);
    }
    expect(await relay.end('SIGTERM')).toBe(0);
    expect(() => statSync(join(dataDir(), 'database', 'pgdata', 'postmaster.pid'))).toThrow('ENOENT');
  });

  it('shows the same key at the next start, with lines that work when pasted', async () => {
    const { apiKey } = JSON.parse(readFileSync(join(dataDir(), 'demo-account.json'), 'utf8')) as {
      apiKey: string;
    };
    const relay = launch(STANDALONE, [], { ...environment(), PORT: '0', CONSOLE_PORT: '0' });
    await relay.line((line) => line.startsWith('Stop with'));
    expect(relay.stdout()).toContain(apiKey);
    const lines = relay
      .stdout()
      .split('\n')
      .filter((line) => line.includes('curl '));
    expect(lines).toHaveLength(3);
    const paste = (line: string) => promisify(execFile)('sh', ['-c', line], { cwd: folder });
    const [models, image, video] = await Promise.all(lines.map(paste));
    expect(JSON.parse(models!.stdout)).toMatchObject({ object: 'list' });
    expect(JSON.parse(image!.stdout)).toMatchObject({ data: [{ url: expect.any(String) }] });
    expect(video!.stdout).toContain('video.mp4');
    expect(readFileSync(join(folder, 'video.mp4')).subarray(4, 8).toString()).toBe('ftyp');
    expect(await relay.end('SIGINT')).toBe(0);
  });

  it('finishes an image in progress when it is stopped', async () => {
    const relay = await start();
    const before = await balance();
    const asked = { model: 'vendora-imagine-image', prompt: 'a harbour [[work:12]]' } as const;
    // The SDK reads the body only when its result is awaited, so that happens right away.
    const image = sdk(relay)
      .images.generate({ ...asked, response_format: 'b64_json' })
      .then((answer) => answer);
    // Over HTTP: on a busy machine, the command starts more slowly than the image is made.
    const credits = async () => {
      const headers = { authorization: `Bearer ${relay.apiKey}` };
      const response = await fetch(`${relay.baseUrl}/v1/credits`, { headers });
      return (await response.json()) as { held: string };
    };
    await until('the image to be held', async () => (await credits()).held === '0.02');
    expect(await relay.end('SIGTERM')).toBe(0);
    expect((await image).data).toHaveLength(1);
    expect(await balance()).toEqual({ main: less(before.main, '0.02'), held: '0' });
  });

  it('killed with a video in progress, continues it at the next start and loses nothing', async () => {
    const before = await balance();
    const relay = await start();
    const video = await sdk(relay).videos.create({
      model: 'vendora-imagine-video',
      prompt: 'a slow train [[work:4]]',
      seconds: '4',
    });
    await relay.end('SIGKILL');

    const next = await start();
    expect(next.apiKey).toBe(relay.apiKey);
    const client = sdk(next);
    const done = await until('the video', async () => {
      const seen = await client.videos.retrieve(video.id);
      return seen.status === 'completed' ? seen : undefined;
    });
    expect(done.id).toBe(video.id);
    const file = await client.videos.downloadContent(video.id);
    expect(
      Buffer.from(await file.arrayBuffer())
        .subarray(4, 8)
        .toString(),
    ).toBe('ftyp');
    await until('the charge to be settled', async () => (await balance()).held === '0');
    expect(await balance()).toEqual({ main: less(before.main, '0.2'), held: '0' });
    await expectCleanLedger();
    expect(await next.end('SIGTERM')).toBe(0);
  });

  it('shows its main features in the demo', async () => {
    const { code, stdout, stderr } = await run('dist/apps/cli/demo.js', [], environment());
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('The run cost 0.24 credits, as expected; 0.76 credits are left.');
    expect(stdout.split('\n').filter((line) => line.length > 100 && line.includes('charge:'))).toEqual([]);
  });
});

describe('a start that fails', () => {
  async function refused(env: Record<string, string>): Promise<string> {
    const { code, stdout, stderr } = await run(STANDALONE, ['--json'], {
      ...environment(),
      PORT: '0',
      CONSOLE_PORT: '0',
      ...env,
    });
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr.trim().split('\n')).toHaveLength(1);
    return stderr;
  }

  async function busyPort(): Promise<{ server: Server; port: string }> {
    const server = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    return { server, port: String((server.address() as AddressInfo).port) };
  }

  it.each(['PORT', 'CONSOLE_PORT'])('says that its %s is in use', async (variable) => {
    const { server, port } = await busyPort();
    expect(await refused({ [variable]: port })).toContain(`${variable} ${port}`);
    server.close();
  });

  it('says that it cannot write its folder', async () => {
    writeFileSync(join(folder, 'file'), '');
    expect(await refused({ DATA_DIR: join(folder, 'file', 'data') })).toContain(
      'Cannot write to the data folder',
    );
  });

  it('names the wrong setting', async () => {
    expect(await refused({ PORT: 'eighty', LEASE_SECONDS: '5' })).toContain('PORT must be a whole number');
    expect(await refused({ LEASE_SECONDS: 'long' })).toContain('LEASE_SECONDS must be seconds');
  });

  it('says that the data is from a newer version, or that another relay uses it', async () => {
    const server = await startEmbeddedPostgres({
      dataDir: join(dataDir(), 'database'),
      log: pino({ level: 'silent' }),
    });
    expect(await refused({})).toContain('is in use');
    const client = new pg.Client({ connectionString: server.ownerUrl });
    await client.connect();
    await client.query(
      `INSERT INTO schema_migrations (name, sha256, needs) VALUES ('9999_from_the_future.sql', 'x', '9998')`,
    );
    await client.end();
    await server.stop();
    expect(await refused({})).toContain('newer than this Tollgate');
  });
});
