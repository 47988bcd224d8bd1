import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { ensureBuilt } from '../support/programs.js';

let folder: string;
let program: ChildProcess;

beforeAll(() => {
  ensureBuilt();
  folder = mkdtempSync(join(tmpdir(), 'tollgate-dev-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it('`npm run dev` serves the pages from their sources before a relay, and Ctrl-C ends both', async () => {
  const env = { ...process.env, DATA_DIR: join(folder, 'data'), PORT: '0', CONSOLE_PORT: '0' };
  program = spawn(process.execPath, ['scripts/dev.mjs', '--json', '--port', '0'], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: program.stdout! });
  const [line] = (await once(lines, 'line')) as [string];
  const { pages, baseUrl, apiKey } = JSON.parse(line) as Record<'pages' | 'baseUrl' | 'apiKey', string>;
  expect(await (await fetch(pages)).text()).toContain('/main.tsx');
  expect((await fetch(`${pages}/api/public/prices`)).status).toBe(200);
  const models = await fetch(`${baseUrl}/v1/models`, { headers: { authorization: `Bearer ${apiKey}` } });
  expect(models.status).toBe(200);

  program.kill('SIGINT');
  const [code] = (await once(program, 'exit')) as [number];
  expect(code).toBe(0);
  await expect(fetch(`${baseUrl}/v1/models`)).rejects.toThrow('fetch failed');
});
