// The programs of accountants that check exports: those that are installed, else the system's packages.
import { spawnSync } from 'node:child_process';

const PROGRAMS = { hledger: 'hledger', 'bean-check': 'beancount', 'bean-query': 'beancount' };
const INSTALL_LIMIT_MS = 300_000;

/** @returns why the programs are not there, or null when they are */
export function missingAccountingTools(say = () => undefined) {
  const packages = missingPackages();
  if (packages.length === 0) return null;
  const why = `there is no ${packages.join(' and no ')} here`;
  if (process.getuid?.() !== 0) return `${why}, and only root can install them`;
  if (!works('apt-get', ['--version'])) return `${why}, and no apt-get to install them`;
  say(`Installing ${packages.join(' and ')} with apt-get …`);
  const failure = install(packages);
  return missingPackages().length === 0 ? null : `${why}, and apt-get could not install them (${failure})`;
}

function missingPackages() {
  const missing = Object.entries(PROGRAMS).filter(([program]) => !works(program, ['--version']));
  return [...new Set(missing.map(([, name]) => name))];
}

function works(command, args) {
  return spawnSync(command, args, { stdio: 'ignore', timeout: 30_000 }).status === 0;
}

/** The lists of packages may be absent or old, as in a fresh container. */
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
