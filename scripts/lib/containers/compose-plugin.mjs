// Docker Compose: the plugin that is installed, else built once from its sources by Go.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { root } from '../clone.mjs';
import { NoEngine } from './no-engine.mjs';
import { runCommand } from './run.mjs';

const MODULE = 'github.com/docker/compose/v2';
const VERSION = 'v2.35.1';
/** The first that may leave out a file of variables, as docker-compose.yml does. */
const OLDEST = [2, 24];

/**
 * @returns {Promise<Record<string, string>>} the variables with which `docker compose` is found
 * @throws NoEngine
 */
export async function findCompose(env, say) {
  if (isNewEnough(env)) return {};
  const folder = join(root, '.cache', `compose-${VERSION}`);
  const variables = { DOCKER_CONFIG: folder };
  if (isNewEnough({ ...env, ...variables })) return variables;
  if (spawnSync('go', ['version'], { stdio: 'ignore' }).status !== 0) {
    throw new NoEngine(`there is no Docker Compose ${OLDEST.join('.')} or newer, and no Go to build it`);
  }
  say('Building Docker Compose with Go …');
  await build(join(folder, 'cli-plugins', 'docker-compose'));
  return variables;
}

function isNewEnough(env) {
  const options = { encoding: 'utf8', env: { ...process.env, ...env } };
  const { stdout, status } = spawnSync('docker', ['compose', 'version', '--short'], options);
  const [major, minor] = (stdout ?? '').replace(/^v/, '').split('.').map(Number);
  return status === 0 && (major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1]));
}

/** In a copy of its sources: `go install` refuses a module that replaces others. */
async function build(plugin) {
  const go = { GOFLAGS: '-buildvcs=false', CGO_ENABLED: '0' };
  const partial = mkdtempSync(join(tmpdir(), 'tollgate-compose-'));
  try {
    const found = await runCommand(['go', 'mod', 'download', '-json', `${MODULE}@${VERSION}`], { env: go });
    const sources = join(partial, 'sources');
    cpSync(JSON.parse(found).Dir, sources, { recursive: true });
    await runCommand(['chmod', '-R', 'u+w', sources]);
    const flags = `-s -w -X ${MODULE}/internal.Version=${VERSION}`;
    const built = join(partial, 'docker-compose');
    await runCommand(['go', 'build', '-trimpath', '-ldflags', flags, '-o', built, './cmd'], {
      env: go,
      cwd: sources,
    });
    mkdirSync(dirname(plugin), { recursive: true });
    cpSync(built, `${plugin}.${process.pid}`);
    renameSync(`${plugin}.${process.pid}`, plugin);
  } catch (error) {
    throw new NoEngine(`Docker Compose could not be built (${error.message})`);
  } finally {
    if (existsSync(partial)) rmSync(partial, { recursive: true, force: true });
  }
}
