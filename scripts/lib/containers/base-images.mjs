// The images that the Dockerfile and docker-compose.yml start from: pulled, or, if no image registry can be reached,
// made from this machine's files under the same names.
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { root } from '../clone.mjs';
import { resolveKafka } from '../kafka-broker.mjs';
import { NoEngine } from './no-engine.mjs';
import { runCommand } from './run.mjs';

const recipes = join(root, 'test', 'containers', 'stand-ins');
const COMMON = 'tollgate-stand-in/bookworm';
const PACKAGES = 'bash,ca-certificates,libstdc++6,passwd,zlib1g';

/**
 * @param {{ env: Record<string, string>, say: (text: string) => void, signal: AbortSignal }} with
 * @throws NoEngine if they can neither be pulled nor made
 */
export async function makeBaseImages({ env, say, signal }) {
  const images = baseImages();
  const missing = [];
  for (const [name, image] of Object.entries(images)) {
    if (!has(image, env) && !pulled(image, env)) missing.push(name);
  }
  if (missing.length === 0) return;
  say(`Making stand-ins of ${missing.map((name) => images[name]).join(', ')}, which cannot be pulled here …`);
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-images-'));
  try {
    if (!has(COMMON, env)) await importDebian(folder, { env, signal });
    for (const name of missing) await makeImage(name, images[name], { folder, env, say, signal });
  } catch (error) {
    throw new NoEngine(`the base images can neither be pulled nor made (${error.message})`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Their names in the project's own files. */
function baseImages() {
  const text = ['Dockerfile', 'docker-compose.yml']
    .map((file) => readFileSync(join(root, file), 'utf8'))
    .join('\n');
  const named = (pattern) => pattern.exec(text)[1];
  return {
    node: named(/^FROM (node:\S+)/m),
    postgres: named(/image: (postgres:\S+)/),
    kafka: named(/image: (apache\/kafka:\S+)/),
  };
}

function has(image, env) {
  return quietly(['image', 'inspect', image], env);
}

function pulled(image, env) {
  return quietly(['pull', '--quiet', image], env);
}

function quietly(args, env) {
  return (
    spawnSync('docker', args, { stdio: 'ignore', timeout: 300_000, env: { ...process.env, ...env } })
      .status === 0
  );
}

async function importDebian(folder, { env, signal }) {
  const archive = join(folder, 'debian.tar');
  const wanted = ['--quiet', '--variant=essential', `--include=${PACKAGES}`, 'bookworm', archive];
  await runCommand(['mmdebstrap', ...wanted], { signal });
  await runCommand(['docker', 'import', archive, COMMON], { env, signal });
}

async function makeImage(name, image, { folder, env, say, signal }) {
  const context = join(folder, name);
  mkdirSync(context);
  await contents[name](context, say);
  const recipe = join(recipes, `${name}.Dockerfile`);
  const build = [
    'docker',
    'build',
    '--quiet',
    '--network',
    'none',
    '--file',
    recipe,
    '--tag',
    image,
    context,
  ];
  await runCommand(build, { env: { ...env, DOCKER_BUILDKIT: '0' }, signal });
  rmSync(context, { recursive: true, force: true });
}

const contents = {
  async node(context) {
    cpSync(join(root, 'node_modules/node/bin/node'), join(context, 'node'), { dereference: true });
    const npm = dirname(dirname(realpathSync((await runCommand(['which', 'npm'])).trim())));
    cpSync(npm, join(context, 'npm'), { recursive: true });
    const registry = (await runCommand(['npm', 'config', 'get', 'registry'])).trim();
    writeFileSync(join(context, 'npmrc'), `registry=${registry}\n`);
    cpSync('/etc/ssl/certs/ca-certificates.crt', join(context, 'certificates.crt'), { dereference: true });
  },
  async postgres(context) {
    const { findPostgres } = await import('../../../dist/libs/database/postgres-binaries.js');
    const { bin } = findPostgres({ uid: null, gid: null });
    cpSync(dirname(bin), join(context, 'postgres'), { recursive: true, verbatimSymlinks: true });
    for (const file of ['postgres-entry.sh', 'pg_isready.sh'])
      cpSync(join(recipes, file), join(context, file));
  },
  async kafka(context, say) {
    const { java, jars } = await resolveKafka(say);
    const home = dirname(dirname(realpathSync((await runCommand(['which', java])).trim())));
    // Debian's Java has links into packages that may not be installed, such as its sources.
    cpSync(home, join(context, 'java'), { recursive: true, dereference: true, filter: existsSync });
    cpSync(jars, join(context, 'kafka'), { recursive: true });
    cpSync(join(recipes, 'kafka-entry.sh'), join(context, 'kafka-entry.sh'));
  },
};
