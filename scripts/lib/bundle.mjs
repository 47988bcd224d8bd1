// Bundles each built program with the modules and packages that it uses: a start that reads a few files instead of 3,600
// takes half of the CPU time.
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { rolldown } from 'rolldown';
import { root } from './clone.mjs';

const PROGRAMS = [
  'apps/standalone/main',
  'apps/gateway/main',
  'apps/billing/main',
  'apps/control-plane/main',
  'apps/control-plane/migrate',
  'apps/video-worker/main',
  'apps/sandbox-upstream/main',
  'apps/cli/main',
  'apps/cli/demo',
];

/**
 * Packages that stay where npm put them: they find native code, data or a worker's program beside themselves, or are patched
 * by the names of their files (kafkajs).
 */
const APART = ['@napi-rs/image', 'argon2', 'kafkajs', 'pdfkit', 'pino'];

/** Chunks that programs share. */
const SHARED = 'shared';

/**
 * Replaces the entry modules of the programs with bundles. The other modules remain, for worker threads and scripts.
 * @param {string} dist where the modules were built
 */
export async function bundlePrograms(dist) {
  rmSync(join(dist, SHARED), { recursive: true, force: true });
  const bundle = await rolldown({
    cwd: dist,
    platform: 'node',
    input: Object.fromEntries(PROGRAMS.map((program) => [program, join(dist, `${program}.js`)])),
    external: isApart,
    // What Node reads. Builds for bundlers (`module`) are not installed: see unused.mjs.
    resolve: { conditionNames: ['node', 'default'] },
    plugins: [{ name: 'source-maps', load: (file) => (file.startsWith(dist) ? builtModule(file) : null) }],
    // Decorators and imports act when a module is read.
    treeshake: { moduleSideEffects: true },
    onLog: reportLog,
  });
  await bundle.write({
    dir: dist,
    sourcemap: true,
    // Stack traces need only names and lines, and a smaller map is read faster at the start.
    sourcemapExcludeSources: true,
    keepNames: true,
    entryFileNames: '[name].js',
    chunkFileNames: `${SHARED}/[name]-[hash].js`,
  });
  await bundle.close();
}

function isApart(name) {
  return isBuiltin(name) || APART.some((kept) => name === kept || name.startsWith(`${kept}/`));
}

/**
 * Packages name optional ones that are not installed, and have faults that are not ours. An installed one that would stay
 * out of the bundle ends the build.
 */
function reportLog(level, log, report) {
  if (log.code === 'UNRESOLVED_IMPORT' && isInstalled(log.exporter)) report('error', log);
  else if (!log.message.includes('node_modules')) report(level, log);
}

/** @param {string} name of a package, or of a module in it */
function isInstalled(name) {
  const [, folder] = /^((?:@[^/]+\/)?[^/]+)/.exec(name);
  return existsSync(join(root, 'node_modules', folder));
}

/** The map leads from the bundle to the sources. */
function builtModule(file) {
  return { code: readFileSync(file, 'utf8'), map: readFileSync(`${file}.map`, 'utf8') };
}
