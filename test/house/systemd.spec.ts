import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { filesIn } from '#database/server-files.js';
import { LONGEST_SOCKET_PATH } from '#database/server-folder.js';
import { SETTINGS, settingNames } from '#platform/settings/settings.js';

/** The units as installed, except that the folder of the programs is this one. */
const root = join(import.meta.dirname, '../..');
const INSTALLED = '/opt/tollgate';
const PROGRAMS = ['gateway', 'billing', 'control-plane', 'video-worker'];
const UNITS = [
  { unit: 'tollgate.service', file: 'tollgate.service', program: 'standalone' },
  ...PROGRAMS.map((program) => ({
    unit: `tollgate@${program}.service`,
    file: 'tollgate@.service',
    program,
  })),
];
/** systemd's own scale: 10 means no protection at all; it calls 2 OK. */
const MOST_EXPOSED = 2;

const run = promisify(execFile);
let folder: string;
let nodeFlags: string[];

beforeAll(async () => {
  const clone = pathToFileURL(join(root, 'scripts/lib/clone.mjs')).href;
  ({ nodeFlags } = (await import(clone)) as { nodeFlags: string[] });
  // Only Linux has systemd. There, its tool is installed if missing.
  const script = pathToFileURL(join(root, 'scripts/lib/system-packages.mjs')).href;
  const { missingPrograms } = (await import(script)) as {
    missingPrograms: (programs: Record<string, string>) => string | null;
  };
  const why = process.platform === 'linux' ? missingPrograms({ 'systemd-analyze': 'systemd' }) : null;
  if (why !== null) throw new Error(why);
  folder = await mkdtemp(join(tmpdir(), 'tollgate-units-'));
});
afterAll(async () => {
  if (folder) await rm(folder, { recursive: true });
});

describe.each(UNITS)('$unit', ({ unit, file, program }) => {
  let text: string;
  let environment: Record<string, string>;
  beforeAll(async () => {
    text = await readFile(join(root, 'deploy/systemd', file), 'utf8');
    const set = [...text.matchAll(/^Environment=(\w+)=(.*)$/gm)];
    environment = Object.fromEntries(set.map(([, name, value]) => [name!, value!]));
    await writeFile(join(folder, unit), text.replaceAll(INSTALLED, root));
  });

  it('starts a program that exists', () => {
    const command = /^ExecStart=(.*)$/m.exec(text)![1]!.replace('%i', program).split(' ');
    expect(command.slice(1)).toEqual([...nodeFlags, `dist/apps/${program}/main.js`]);
    expect(existsSync(join(root, `apps/${program}/main.ts`))).toBe(true);
  });

  it('sets variables that programs read, and leaves time to stop', () => {
    expect(settingNames).toEqual(expect.arrayContaining(Object.keys(environment)));
    const [, limit] = /^TimeoutStopSec=(\d+)$/m.exec(text)!;
    expect(Number(limit) * 1000).toBeGreaterThan(2 * SETTINGS.SHUTDOWN_GRACE_SECONDS.fallback!);
  });

  it('only writes where it is allowed to', () => {
    // Standalone has everything in DATA_DIR. The defaults are in the folder of the programs, which is read-only for
    // them.
    const folders = program === 'standalone' ? ['DATA_DIR'] : ['STORAGE_DIR', 'MAIL_DIR'];
    for (const name of folders) expect(environment[name]).toMatch(/^\/var\/lib\/tollgate(\/|$)/);
    expect(text).toMatch(/^StateDirectory=tollgate$/m);
  });

  it('has its database socket where commands find it', () => {
    if (program !== 'standalone') return;
    // Next to the data: a temporary folder belongs to the unit, and is hidden from everybody else.
    const { socket } = filesIn(join(environment['DATA_DIR']!, 'database'));
    expect(Buffer.byteLength(`${socket}/.s.PGSQL.5432`)).toBeLessThanOrEqual(LONGEST_SOCKET_PATH);
  });

  if (process.platform !== 'linux') return;

  it('is understood by systemd, and exposes little', async () => {
    const { stdout, stderr } = await run('systemd-analyze', ['verify', join(folder, unit)]);
    expect(stdout + stderr).toBe('');
    const report = await run('systemd-analyze', ['security', '--offline=true', join(folder, unit)]);
    const [, exposure] = /exposure level for .*: (\d+\.\d)/.exec(report.stdout)!;
    expect(Number(exposure)).toBeLessThanOrEqual(MOST_EXPOSED);
  });
});
