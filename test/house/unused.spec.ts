import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const SCRIPT = pathToFileURL(join(import.meta.dirname, '../../scripts/lib/unused.mjs')).href;

const KEPT = [
  'plain/LICENSE',
  'plain/index.js',
  'plain/index.d.ts',
  'plain/lib/test/code.js',
  'plain/NOTICE.md',
  'named/license.md',
  'bare/README.md',
  'bare/index.js',
  '@aws-sdk/client/dist-cjs/index.js',
  '@aws-sdk/client/dist-types/index.d.ts',
  'openai/index.mjs',
  'openai/index.d.mts',
  'openai/alone.js',
];

const REMOVED = [
  'plain/README.md',
  'plain/CHANGELOG.md',
  'plain/test/index.js',
  'plain/docs/index.md',
  'plain/index.js.map',
  'plain/node_modules/inner/tests/index.js',
  'plain/node_modules/@scope/inner/examples/index.js',
  'named/readme.md',
  '@aws-sdk/client/dist-es/index.js',
  '@aws-sdk/client/dist-types/ts3.4/index.d.ts',
  '@aws-sdk/client/node_modules/@smithy/core/benchmark/index.js',
  'openai/index.js',
  'openai/index.d.ts',
];

describe('removing what nothing reads from installed packages', () => {
  let packages: string;

  beforeAll(async () => {
    packages = mkdtempSync(join(tmpdir(), 'tollgate-unused-'));
    for (const file of [...KEPT, ...REMOVED]) {
      mkdirSync(dirname(join(packages, file)), { recursive: true });
      writeFileSync(join(packages, file), '');
    }
    const { removeUnused } = (await import(SCRIPT)) as { removeUnused: (folder: string) => void };
    removeUnused(packages);
  });
  afterAll(() => rmSync(packages, { recursive: true, force: true }));

  it.each(KEPT)('keeps %s', (file) => expect(existsSync(join(packages, file))).toBe(true));

  it.each(REMOVED)('removes %s', (file) => expect(existsSync(join(packages, file))).toBe(false));
});
