import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

interface LockEntry {
  version?: string;
  resolved?: string;
  link?: boolean;
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
}

type Packages = Record<string, LockEntry>;

function packagesOf(file: string): Packages {
  const text = readFileSync(join(import.meta.dirname, '../..', file), 'utf8');
  return (JSON.parse(text) as { packages: Packages }).packages;
}

const programs = packagesOf('package-lock.json');
const pages = packagesOf('apps/console/package-lock.json');

/** Whether Node finds a package from another's folder: beside it, or in a folder further up. */
function isLocked(packages: Packages, name: string, from: string): boolean {
  for (let folder = from; ; folder = folder.slice(0, Math.max(folder.lastIndexOf('node_modules/') - 1, 0))) {
    if (packages[`${folder}${folder && '/'}node_modules/${name}`]) return true;
    if (folder === '') return false;
  }
}

describe.each([
  ['package-lock.json', programs],
  ['apps/console/package-lock.json', pages],
  ['docs/package-lock.json', packagesOf('docs/package-lock.json')],
])('%s', (_file, packages) => {
  it('names every package for every platform, or `npm ci` refuses it', () => {
    const missing = Object.entries(packages).flatMap(([path, { dependencies, optionalDependencies }]) =>
      Object.keys({ ...dependencies, ...optionalDependencies })
        .filter((name) => !isLocked(packages, name, path))
        .map((name) => `${name}, wanted by ${path || 'package.json'}`),
    );
    expect(missing).toEqual([]);
  });

  it('names no download address, so that each machine uses its own registry', () => {
    const places = Object.values(packages).filter(({ resolved, link }) => resolved !== undefined && !link);
    expect(places).toEqual([]);
  });
});

it('uses one version of the control plane’s client in pages and tests', () => {
  const client = 'node_modules/openapi-fetch';
  expect(pages[client]?.version).toBe(programs[client]?.version);
});
