import { afterAll, beforeAll, expect, it } from 'vitest';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from '../support/eventually.js';
import { killLaunched, launch } from '../support/programs.js';

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-interrupted-'));
});
afterAll(async () => {
  await killLaunched();
  rmSync(folder, { recursive: true, force: true });
});

it('`npm test` stops its broker and removes its data before Ctrl-C ends it', async () => {
  const args = ['--only', 'kafka', '--', 'test/kafka/bus.spec.ts'];
  const tests = launch('scripts/test.mjs', args, { TMPDIR: folder });
  const state = () => tests.stdout() + tests.stderr();
  await until('the specs', async () => tests.stdout().includes('RUN'), { state });
  expect(await tests.end('SIGINT')).toBe(130);
  expect(readdirSync(folder).filter((name) => name.startsWith('tollgate-kafka-'))).toEqual([]);
});
