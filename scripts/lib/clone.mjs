// This clone: where it is, what state its sources are in, and how scripts print.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '');

/**
 * How Node runs the programs: stack traces name the sources, and new objects are collected less often, so that few of
 * them are still in use and copied. The image's NODE_OPTIONS are the same.
 */
export const nodeFlags = ['--enable-source-maps', '--max-semi-space-size=64'];

/** Where the package of the project's Node puts its program. */
export const pinnedNode = join(root, 'node_modules', 'node', 'bin', 'node');
/** The types of the control plane's client, written by the build and read by the checks of the pages. */
export const builtClient = join(root, 'apps', 'console', 'api', 'schema.ts');

// The reader may stop early, as `head` does.
process.stdout.on('error', ({ code }) => process.exit(code === 'EPIPE' ? 0 : 1));

/** Reports progress on standard error, since standard output belongs to the program. */
export function say(text) {
  process.stderr.write(`${text}\n`);
}

/** Ends the script with one sentence. */
export function giveUp(sentence) {
  say(sentence);
  process.exit(1);
}

/** A hash of the names and contents of files, except specs and texts, which are not built. */
export function fingerprint(paths) {
  const hash = createHash('sha256');
  for (const file of paths.flatMap((path) => filesUnder(join(root, path)))) {
    if (/\.spec\.ts$|\.md$/.test(file) || file === builtClient) continue;
    hash.update(relative(root, file)).update('\0').update(readFileSync(file)).update('\0');
  }
  return hash.digest('hex');
}

function filesUnder(path) {
  if (!existsSync(path)) return [];
  try {
    return readdirSync(path)
      .sort()
      .flatMap((name) => (name === 'node_modules' ? [] : filesUnder(join(path, name))));
  } catch (error) {
    if (error.code === 'ENOTDIR') return [path];
    throw error;
  }
}
