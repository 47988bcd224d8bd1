import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { enableCompileCache, isBuiltin, registerHooks } from 'node:module';
import { dirname } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { transformSync, version } from '@swc/core';

/**
 * Lets Node import the TypeScript sources, in specs and with `node --import ./test/support/sources.mjs file.ts`.
 * Aliases resolve to the sources instead of dist.
 */
const root = new URL('../../', import.meta.url);
const swcrc = readFileSync(new URL('.swcrc', root), 'utf8');
const options = JSON.parse(swcrc);
const compiler = createHash('sha256').update(`${version} ${swcrc}`).digest('hex');
/** Each worker of each stage loads most of the program. What one worker has compiled, all others reuse. */
const cache = new URL('.cache/sources/', root);

enableCompileCache(fileURLToPath(new URL('.cache/compiled', root)));

const hooks = {
  resolve(specifier, context, nextResolve) {
    if (isBuiltin(specifier)) return builtin(specifier);
    const source = sourceOf(specifier, withoutQuery(context.parentURL));
    return source ? { url: source, shortCircuit: true } : nextResolve(specifier, context);
  },
  load(url, context, nextLoad) {
    const path = withoutQuery(url);
    if (!path.startsWith(root.href) || !path.endsWith('.ts')) return nextLoad(url, context);
    return { format: 'module', source: compiled(path), shortCircuit: true };
  },
};
let registered = registerHooks(hooks);

/**
 * Lets these hooks answer before all that were registered since. The test runner's would tell its main process of each
 * import of each file, which costs a worker a fifth of the time that it takes to load the program.
 */
export function answerFirst() {
  registered.deregister();
  registered = registerHooks(hooks);
}

function builtin(specifier) {
  const url = specifier.startsWith('node:') ? specifier : `node:${specifier}`;
  return { url, format: 'builtin', shortCircuit: true };
}

function compiled(path) {
  const filename = fileURLToPath(path);
  const source = readFileSync(filename, 'utf8');
  const file = fileURLToPath(new URL(path.slice(root.href.length).replace(/\.ts$/, '.js'), cache));
  const end = `\n//${createHash('sha256').update(compiler).update(source).digest('hex')}\n`;
  const known = existsSync(file) ? readFileSync(file, 'utf8') : '';
  if (known.endsWith(end)) return known;
  const { code } = transformSync(source, {
    ...options,
    filename,
    sourceMaps: 'inline',
    configFile: false,
    swcrc: false,
  });
  keep(file, code + end);
  return code + end;
}

/** Writes the file whole or not at all: another worker may be reading it. */
function keep(file, text) {
  mkdirSync(dirname(file), { recursive: true });
  const partial = `${file}.${process.pid}`;
  writeFileSync(partial, text);
  renameSync(partial, file);
}

/** The test runner adds a query to its imports. */
function withoutQuery(url) {
  return url?.replace(/\?.*$/, '');
}

/** Only for imports by a source: a built file, such as one of another version, needs what was built with it. */
function sourceOf(specifier, parentURL) {
  if (!parentURL?.endsWith('.ts')) return undefined;
  const alias = /^#([a-z]+)\/(.*)\.js$/.exec(specifier);
  if (alias) {
    const folder = alias[1] === 'apps' ? 'apps' : `libs/${alias[1]}`;
    return new URL(`${folder}/${alias[2]}.ts`, root).href;
  }
  if (!/^\.{1,2}\/.*\.js$/.test(specifier)) return undefined;
  const source = new URL(specifier.replace(/\.js$/, '.ts'), parentURL);
  return existsSync(source) ? pathToFileURL(fileURLToPath(source)).href : undefined;
}
