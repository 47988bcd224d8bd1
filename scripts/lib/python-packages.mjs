// Python packages that tests need, in a separate environment below .cache.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './clone.mjs';
import { missingPrograms } from './system-packages.mjs';

const INSTALL_LIMIT_MS = 300_000;

/**
 * Installs the pinned versions in `scripts/python/<name>.txt` once.
 * @param {{ name: string, program: string, about: string }} wanted `program`: which one of the environment is needed
 * @param {(text: string) => void} say
 * @returns {{ program: string } | { why: string }} where it is, or why it is missing
 */
export function installPython({ name, program: binary, about }, say) {
  const requirements = join(root, 'scripts', 'python', `${name}.txt`);
  const version = createHash('sha256').update(readFileSync(requirements)).digest('hex').slice(0, 16);
  const folder = join(root, '.cache', 'python', name, version);
  const program = join(folder, 'bin', binary);
  const stamp = join(folder, '.complete');
  if (existsSync(stamp)) return { program };
  const why = missingPrograms({ python3: 'python3 python3-venv' }, say);
  if (why !== null) return { why };
  say(`Installing ${about} …`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const failure = makeEnvironment(folder, say) ?? run(join(folder, 'bin', 'pip'), pipArguments(requirements));
  if (failure !== null) return { why: `${about} could not be installed (${failure})` };
  writeFileSync(stamp, '');
  return { program };
}

function pipArguments(requirements) {
  return ['install', '--quiet', '--disable-pip-version-check', '--no-input', '-r', requirements];
}

/** Debian's Python comes without its venv module. Its package is requested only if the module is missing. */
function makeEnvironment(folder, say) {
  const failure = run('python3', ['-m', 'venv', folder]);
  if (failure === null || process.getuid?.() !== 0) return failure;
  say('Installing python3-venv with apt-get …');
  run('apt-get', ['update', '-qq']);
  run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', 'python3-venv']);
  return run('python3', ['-m', 'venv', '--clear', folder]);
}

/** @returns why it failed, or null */
function run(command, args) {
  const options = { encoding: 'utf8', timeout: INSTALL_LIMIT_MS, stdio: ['ignore', 'pipe', 'pipe'] };
  const { status, stderr, error } = spawnSync(command, args, options);
  if (status === 0) return null;
  return stderr?.trim().split('\n').at(-1) || error?.message || `exit code ${status}`;
}
