// Programs from the system's packages: those installed, or else from apt if root runs this.
import { spawnSync } from 'node:child_process';

const INSTALL_LIMIT_MS = 300_000;

/**
 * @param {Record<string, string>} programs what has to run, and the packages that contain it, separated by spaces
 * @param {(text: string) => void} say
 * @returns why they are missing, or null if they are not
 */
export function missingPrograms(programs, say = () => undefined) {
  const packages = missingPackages(programs);
  if (packages.length === 0) return null;
  const why = `there is no ${packages.join(' and no ')} here`;
  if (process.getuid?.() !== 0) return `${why}, and only root can install them`;
  if (!works('apt-get')) return `${why}, and no apt-get to install them`;
  say(`Installing ${packages.join(' and ')} with apt-get …`);
  const failure = install(packages);
  return missingPackages(programs).length === 0
    ? null
    : `${why}, and apt-get could not install them (${failure})`;
}

function missingPackages(programs) {
  const missing = Object.entries(programs).filter(([program]) => !works(program));
  return [...new Set(missing.flatMap(([, names]) => names.split(' ')))];
}

function works(command) {
  return spawnSync(command, ['--version'], { stdio: 'ignore', timeout: 30_000 }).status === 0;
}

/** The package lists may be missing or old, as in a fresh container. */
function install(packages) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const options = { encoding: 'utf8', timeout: INSTALL_LIMIT_MS, env, stdio: ['ignore', 'ignore', 'pipe'] };
  const args = ['install', '-y', '-qq', '--no-install-recommends', ...packages];
  const first = spawnSync('apt-get', args, options);
  if (first.status === 0) return '';
  spawnSync('apt-get', ['update', '-qq'], options);
  const { stderr, error } = spawnSync('apt-get', args, options);
  return stderr?.trim().split('\n').at(-1) || error?.message || 'no reason given';
}
