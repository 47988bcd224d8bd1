import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { until } from '../support/eventually.js';

const root = join(import.meta.dirname, '../..');
const SCRIPT = pathToFileURL(join(root, 'scripts/lib/bootstrap.mjs')).href;
const NAME = `of-a-spec-${process.pid}`;
const LOCK = join(root, '.cache', `${NAME}.lock`);

/** Takes the lock until its input ends. Its file says what it did last: `.` for each pause, then `in` and `out`. */
const OTHER = `
import { appendFileSync } from 'node:fs';
import { once } from 'node:events';
import { alone } from '${SCRIPT}';
const say = (word) => appendFileSync(process.argv[1], word);
const later = setTimeout;
globalThis.setTimeout = (work, ms) => (say('.'), later(work, ms));
await alone('${NAME}', async () => {
  say('in');
  process.stdin.resume();
  await once(process.stdin, 'end');
  say('out');
});`;

let folder: string;
let told: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'script-lock-'));
  told = join(folder, 'told');
  writeFileSync(told, '');
});
afterEach(() => {
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true });
  for (const end of ['', '.removing']) rmSync(LOCK + end, { force: true });
});

const said = () => readFileSync(told, 'utf8');
/** Without giving anything else in this process its turn. */
const waitFor = (isSo: () => boolean) => {
  const nothing = new Int32Array(new SharedArrayBuffer(4));
  while (!isSo()) Atomics.wait(nothing, 0, 0, 10);
};

it('a lock that a dead script left is taken over by one of two, though both have seen it', async () => {
  const { alone } = (await import(SCRIPT)) as {
    alone: (name: string, work: () => Promise<void>) => Promise<void>;
  };
  const dead = spawnSync('true').pid;
  writeFileSync(LOCK, String(dead));
  let other: ReturnType<typeof spawn> | undefined;
  const kill = process.kill.bind(process);
  vi.spyOn(process, 'kill').mockImplementation((pid, signal) => {
    // This script knows by now that the holder is gone, and the other one goes as far as it can before it acts.
    if (pid === dead && !other) {
      other = spawn(process.execPath, ['--input-type=module', '-e', OTHER, told], { stdio: ['pipe', 2, 2] });
      waitFor(() => said().includes('in') || said().includes('...'));
    }
    return kill(pid, signal);
  });
  let isTogether = false;
  let isMine = false;
  const mine = alone(NAME, async () => {
    isMine = true;
    isTogether = said().endsWith('in');
  });
  await until('one of them has it', () => Promise.resolve(isMine || said().includes('in')));
  // The other one keeps it until this one was refused it, or has it.
  const draft = vi.spyOn(globalThis, 'setTimeout');
  const pauses = () => draft.mock.calls.filter(([, ms]) => ms === 200).length;
  await until('this one has tried', () => Promise.resolve(isMine || pauses() > 1));
  const ended = once(other!, 'exit');
  other!.stdin!.end();
  await Promise.all([mine, ended]);
  expect(isTogether).toBe(false);
  expect(said()).toMatch(/in\.*out$/);
});
