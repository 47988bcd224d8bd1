// Docker Compose: the installed plugin, or else one unpacked from its Debian package.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { root } from '../clone.mjs';
import { unpackPackage } from '../debian-package.mjs';
import { NoEngine } from './no-engine.mjs';

/** The first version in which an env file may be missing, as in docker-compose.yml. */
const OLDEST = [2, 24];
/** The first Debian release that has it. */
const RELEASE = 'trixie';

/**
 * @returns {Record<string, string>} the variables with which `docker compose` is found
 * @throws NoEngine
 */
export function findCompose(env, say) {
  if (isNewEnough(env)) return {};
  const cache = join(root, '.cache', 'docker-compose');
  const variables = { DOCKER_CONFIG: join(cache, 'usr', 'libexec', 'docker') };
  if (isNewEnough({ ...env, ...variables })) return variables;
  say('Unpacking Docker Compose from its Debian package …');
  try {
    unpackPackage('docker-compose', cache, { release: RELEASE });
  } catch (error) {
    throw new NoEngine(`there is no Docker Compose ${OLDEST.join('.')} or newer: ${error.message}`);
  }
  if (!isNewEnough({ ...env, ...variables }))
    throw new NoEngine("the Docker Compose of Debian's package does not run here");
  return variables;
}

function isNewEnough(env) {
  const options = { encoding: 'utf8', env: { ...process.env, ...env } };
  const { stdout, status } = spawnSync('docker', ['compose', 'version', '--short'], options);
  const [major, minor] = (stdout ?? '').replace(/^v/, '').split('.').map(Number);
  return status === 0 && (major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1]));
}
