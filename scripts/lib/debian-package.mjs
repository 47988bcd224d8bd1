// Programs unpacked from a Debian package, which needs no root, installs nothing and starts no service.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg';
const LIMIT_MS = 300_000;

/**
 * @param {string} name of the package; its dependencies are not unpacked
 * @param {string} folder replaced by the package's files
 * @param {{ release?: string }} options a Debian release other than this machine's
 * @throws Error saying why it could not be had
 */
export function unpackPackage(name, folder, { release } = {}) {
  mkdirSync(dirname(folder), { recursive: true });
  const partial = mkdtempSync(`${folder}.`);
  try {
    const options = release ? ofRelease(release, join(dirname(folder), `debian-${release}`)) : [];
    download(name, options, partial);
    const [file] = readdirSync(partial).filter((entry) => entry.endsWith('.deb'));
    const { status, reason } = run('dpkg-deb', ['--extract', file, 'tree'], partial);
    if (status !== 0) throw new Error(`The package ${name} could not be unpacked (${reason}).`);
    rmSync(folder, { recursive: true, force: true });
    renameSync(join(partial, 'tree'), folder);
  } finally {
    rmSync(partial, { recursive: true, force: true });
  }
}

/**
 * Uses that release's package lists in addition to the machine's own, which stay unchanged. They are kept in `folder`,
 * since reading them takes longer than a package.
 */
function ofRelease(release, folder) {
  mkdirSync(folder, { recursive: true });
  const list = join(folder, 'sources.list');
  const signed = existsSync(KEYRING) ? `[signed-by=${KEYRING}] ` : '';
  writeFileSync(list, `deb ${signed}${mirror()} ${release} main\n`);
  for (const part of ['lists/partial', 'cache/archives/partial'])
    mkdirSync(join(folder, part), { recursive: true });
  const options = {
    'Dir::Etc::SourceList': list,
    'Dir::Etc::SourceParts': '-',
    'Dir::State::Lists': join(folder, 'lists'),
    'Dir::Cache': join(folder, 'cache'),
    'Acquire::Languages': 'none',
    // APT's sandbox user may not write here.
    'APT::Sandbox::User': '',
  };
  return Object.entries(options).map(([key, value]) => `-o${key}=${value}`);
}

/** Where this machine gets Debian from. */
function mirror() {
  const format = ['indextargets', '--no-release-info', '--format', '$(REPO_URI)', 'Created-By: Packages'];
  const { stdout } = spawnSync('apt-get', format, { encoding: 'utf8', timeout: LIMIT_MS });
  const found = (stdout ?? '').split('\n').find((address) => /\/debian\/?$/.test(address));
  if (!found) throw new Error('apt-get knows no mirror of Debian here.');
  return found;
}

function download(name, options, folder) {
  const get = () => run('apt-get', [...options, 'download', '-qq', name], folder);
  if (get().status === 0) return;
  // The package lists may be missing or old, as in a fresh container. Only root can update the machine's.
  run('apt-get', [...options, 'update', '-qq'], folder);
  const { status, reason } = get();
  if (status !== 0) throw new Error(`apt-get could not download the package ${name} (${reason}).`);
}

function run(command, args, cwd) {
  const { status, stderr, error } = spawnSync(command, args, { cwd, encoding: 'utf8', timeout: LIMIT_MS });
  return { status, reason: stderr?.trim().split('\n').at(-1) || error?.message || 'no reason given' };
}
