import { existsSync, readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { transformSync } from '@swc/core';

/**
 * Lets Node import the TypeScript sources, in specs and with `node --import ./test/support/sources.mjs file.ts`.
 * Aliases resolve to the sources instead of dist.
 */
const root = new URL('../../', import.meta.url);
const options = JSON.parse(readFileSync(new URL('.swcrc', root), 'utf8'));

registerHooks({
  resolve(specifier, context, nextResolve) {
    const source = sourceOf(specifier, withoutQuery(context.parentURL));
    return source ? { url: source, shortCircuit: true } : nextResolve(specifier, context);
  },
  load(url, context, nextLoad) {
    const path = withoutQuery(url);
    if (!path.startsWith(root.href) || !path.endsWith('.ts')) return nextLoad(url, context);
    const filename = fileURLToPath(path);
    const { code } = transformSync(readFileSync(filename, 'utf8'), {
      ...options,
      filename,
      sourceMaps: 'inline',
      configFile: false,
      swcrc: false,
    });
    return { format: 'module', source: code, shortCircuit: true };
  },
});

/** The test runner adds a query to its imports. */
function withoutQuery(url) {
  return url?.replace(/\?.*$/, '');
}

function sourceOf(specifier, parentURL) {
  const alias = /^#([a-z]+)\/(.*)\.js$/.exec(specifier);
  if (alias) {
    const folder = alias[1] === 'apps' ? 'apps' : `libs/${alias[1]}`;
    return new URL(`${folder}/${alias[2]}.ts`, root).href;
  }
  if (!parentURL?.endsWith('.ts') || !/^\.{1,2}\/.*\.js$/.test(specifier)) return undefined;
  const source = new URL(specifier.replace(/\.js$/, '.ts'), parentURL);
  return existsSync(source) ? pathToFileURL(fileURLToPath(source)).href : undefined;
}
