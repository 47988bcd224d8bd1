import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';

interface LockEntry {
  version?: string;
  resolved?: string;
  link?: boolean;
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
}

const file = join(import.meta.dirname, '../../package-lock.json');
const { packages } = JSON.parse(readFileSync(file, 'utf8')) as { packages: Record<string, LockEntry> };

/** Where Node finds a package from another's folder: beside it, or in a folder further up. */
function isLocked(name: string, from: string): boolean {
  for (let folder = from; ; folder = folder.slice(0, Math.max(folder.lastIndexOf('node_modules/') - 1, 0))) {
    if (packages[`${folder}${folder && '/'}node_modules/${name}`]) return true;
    if (folder === '') return false;
  }
}

describe('package-lock.json', () => {
  it('names every package for every platform, or `npm ci` refuses it', () => {
    const missing = Object.entries(packages).flatMap(([path, { dependencies, optionalDependencies }]) =>
      Object.keys({ ...dependencies, ...optionalDependencies })
        .filter((name) => !isLocked(name, path))
        .map((name) => `${name}, wanted by ${path || 'package.json'}`),
    );
    expect(missing).toEqual([]);
  });

  it('names no place to download from, so that each machine uses its own registry', () => {
    const places = Object.values(packages).filter(({ resolved, link }) => resolved !== undefined && !link);
    expect(places).toEqual([]);
  });
});
