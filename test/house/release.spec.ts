import { execFile } from 'node:child_process';
import { appendFile, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../..');
const author = { GIT_AUTHOR_NAME: 'a', GIT_AUTHOR_EMAIL: 'a@example.com' };
const committer = { GIT_COMMITTER_NAME: 'a', GIT_COMMITTER_EMAIL: 'a@example.com' };
// If npm is set to be quiet, it does not print what it did.
const env = { ...process.env, ...author, ...committer, npm_config_loglevel: 'notice' };

let clone: string;

beforeAll(async () => {
  clone = await mkdtemp(join(tmpdir(), 'release-'));
  const { stdout: files } = await run('git', ['-C', root, 'ls-files', '-z', '--', ...NEEDED]);
  await run('git', ['init', '--quiet', clone]);
  for (const file of files.split('\0').filter(Boolean))
    await run('install', ['-D', join(root, file), join(clone, file)]);
  await commit();
});
afterAll(() => rm(clone, { recursive: true, force: true }));

const NEEDED = ['.npmrc', 'package.json', 'package-lock.json', 'scripts', 'docs/*', 'deploy'];
const commit = async () => {
  await run('git', ['-C', clone, 'add', '--all'], { env });
  await run('git', ['-C', clone, 'commit', '--quiet', '--message', 'Work'], { env });
};
const release = (version: string) => run('npm', ['version', version], { cwd: clone, env });
const read = (file: string) => readFile(join(clone, file), 'utf8');

describe('npm version', () => {
  it('writes the version everywhere, dates its notes, and tags it, in one commit', async () => {
    await release('7.8.9');
    const { version } = JSON.parse(await read('package-lock.json')) as { version: string };
    expect(version).toBe('7.8.9');
    expect(await read('deploy/helm/tollgate/Chart.yaml')).toMatch(/^version: 7\.8\.9\nappVersion: 7\.8\.9$/m);
    expect(await read('docs/asyncapi.yaml')).toContain('  version: 7.8.9\n');
    expect(await read('docs/changelog.md')).toMatch(/^## Unreleased\n\n## 7\.8\.9, \d{4}-\d\d-\d\d\n/m);
    const { stdout } = await run('git', ['-C', clone, 'describe', '--dirty', '--match', 'v*']);
    expect(stdout.trim()).toBe('v7.8.9');
  });

  it('releases nothing that the changelog does not mention', async () => {
    await expect(release('7.9.0')).rejects.toThrow('lists nothing under "Unreleased"');
    const { stdout } = await run('git', ['-C', clone, 'status', '--porcelain']);
    expect(stdout).toBe('');
  });

  it('releases nothing that is not committed', async () => {
    await appendFile(join(clone, 'docs/index.md'), 'more');
    await expect(release('7.9.0')).rejects.toThrow('not clean');
  });
});
