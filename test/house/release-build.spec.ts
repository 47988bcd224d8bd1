import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../..');
const SCRIPT = pathToFileURL(join(root, 'scripts/lib/release-image.mjs')).href;
const DIGEST = 'd'.repeat(64);
const ID = '1'.repeat(64);

type Build = (
  of: { context: string; name: string; options: string[]; isPulled: boolean; isPushed: boolean },
  env: Record<string, string>,
) => Promise<{ baseImages: { name: string; sha256: string }[] }>;

/** Answers like Podman, and keeps the Dockerfile that it builds. */
const ENGINE = `#!/bin/sh
case "$1" in
  image) cat "$FOLDER/inspected" ;;
  build) cp "$4" "$FOLDER/built" ;;
esac
`;

let folder: string;
let build: Build;

beforeAll(async () => {
  ({ buildReleaseImage: build } = (await import(SCRIPT)) as { buildReleaseImage: Build });
  folder = mkdtempSync(join(tmpdir(), 'tollgate-release-build-'));
  writeFileSync(join(folder, 'docker'), ENGINE, { mode: 0o755 });
  writeFileSync(join(folder, 'Dockerfile'), 'FROM node:24 AS build\nFROM build\n');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function buildFrom(RepoDigests: string[], isPulled: boolean) {
  writeFileSync(join(folder, 'inspected'), JSON.stringify([{ Id: ID, RepoDigests }]));
  const env = { FOLDER: folder, PATH: `${folder}:${process.env['PATH']}` };
  return build({ context: folder, name: 'tollgate:1', options: [], isPulled, isPushed: false }, env);
}

it.each(['node', 'docker.io/library/node'])(
  'uses a base image that an engine calls %s by its digest',
  async (name) => {
    const { baseImages } = await buildFrom([`other@sha256:${ID}`, `${name}@sha256:${DIGEST}`], true);
    expect(baseImages).toEqual([{ name: 'node:24', sha256: DIGEST }]);
    expect(readFileSync(join(folder, 'built'), 'utf8')).toBe(
      `FROM node:24@sha256:${DIGEST} AS build\nFROM build\n`,
    );
  },
);

it('does not build from a base image that was pulled but has no known digest', async () => {
  await expect(buildFrom([`example.com/node@sha256:${DIGEST}`], true)).rejects.toThrow(
    'does not know the digest of node:24',
  );
});

it('names a base image of this machine by its ID', async () => {
  expect((await buildFrom([], false)).baseImages).toEqual([{ name: 'node:24', sha256: ID }]);
});

it.each([['--file', 'X'], ['--file=X'], ['-f', 'X']])(
  'refuses a different Dockerfile: %s',
  async (...options) => {
    const args = ['scripts/release.mjs', '--out', folder, '--image', 'x', '--', ...options];
    await expect(run(process.execPath, args, { cwd: root })).rejects.toThrow('Leave out --file');
  },
);
