import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { UNHURRIED } from '../support/durations.js';
import { ensureBuilt, environment, launch, type Launched } from '../support/programs.js';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../..');

describe('the npm package', () => {
  let folder: string;
  let relay: Launched | undefined;
  const settings = () => ({ ...UNHURRIED, DATA_DIR: join(folder, 'data'), PORT: '0', CONSOLE_PORT: '0' });
  const tollgate = () => join(folder, 'node_modules/.bin/tollgate');

  beforeAll(async () => {
    ensureBuilt();
    folder = mkdtempSync(join(tmpdir(), 'tollgate-package-'));
    writeFileSync(join(folder, 'package.json'), '{ "private": true }');
    const packed = await run('npm', ['pack', '--ignore-scripts', '--json', '--pack-destination', folder], {
      cwd: root,
      maxBuffer: 16 * 1024 * 1024,
    });
    const [{ filename }] = JSON.parse(packed.stdout) as [{ filename: string }];
    await run('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund', `./${filename}`], {
      cwd: folder,
    });
  });

  afterAll(async () => {
    await relay?.end('SIGTERM');
    rmSync(folder, { recursive: true, force: true });
  });

  it('starts a relay that charges for an image, and whose books agree', async () => {
    relay = launch(tollgate(), ['start', '--json'], settings());
    const ready = await relay.line((line) => line.startsWith('{'));
    const { baseUrl, consoleUrl, apiKey } = JSON.parse(ready) as Record<string, string>;
    const answer = await fetch(`${baseUrl}/v1/images/generations`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'vendora-imagine-image', prompt: 'a lighthouse' }),
    });
    expect(answer.status).toBe(200);
    const page = await fetch(`${consoleUrl}/sign-in`, { headers: { accept: 'text/html' } });
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('<html')]);
    const checked = await run(tollgate(), ['ledger', 'check', '--json'], {
      cwd: folder,
      env: environment(settings()),
    });
    expect(JSON.parse(checked.stdout)).toMatchObject({ ok: true });
    expect(await relay.end('SIGTERM')).toBe(0);
    relay = undefined;
  });
});
