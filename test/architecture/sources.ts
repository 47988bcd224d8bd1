import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';

const root = join(import.meta.dirname, '../..');

/** Every file of the programs and libs that runs in production, relative to the root of the repository. */
export const sources = globSync('{apps,libs}/**/*.{ts,tsx}', { cwd: root, exclude: ['**/node_modules'] })
  .filter((file) => !/\.(spec|fixture)\.ts$|\.d\.ts$/.test(file) && file !== 'apps/console/api/schema.ts')
  .sort();

const known = new Set(sources);
const imports = new Map<string, Import[]>();

export interface Import {
  readonly specifier: string;
  /** The imported file, if it is one of the sources; null for a package or a generated file. */
  readonly target: string | null;
}

export function textOf(file: string): string {
  return readFileSync(join(root, file), 'utf8');
}

/** `apps/gateway` or `libs/ledger`. */
export function moduleOf(file: string): string {
  return file.split('/').slice(0, 2).join('/');
}

/** What a file imports, including types. */
export function importsOf(file: string): Import[] {
  let found = imports.get(file);
  if (!found) {
    const specifiers = textOf(file).matchAll(/(?:from|import\(|^import)\s*'([^']+)'/gm);
    found = [...specifiers].map(([, specifier]) => ({
      specifier: specifier!,
      target: targetOf(file, specifier!),
    }));
    imports.set(file, found);
  }
  return found;
}

/** The names that a file declares and exports. What it only re-exports belongs to another file. */
export function exportsOf(file: string): string[] {
  const declared = textOf(file).matchAll(
    /^export (?:default )?(?:abstract |async )*(?:class|const|enum|function\*?|interface|let|type) (\w+)/gm,
  );
  return [...new Set([...declared].map(([, name]) => name!))];
}

function targetOf(file: string, specifier: string): string | null {
  const path = pathOf(file, specifier);
  if (path === null) return null;
  const target = ['.ts', '.tsx']
    .map((ending) => path.replace(/\.js$/, ending))
    .find((each) => known.has(each));
  if (
    target === undefined &&
    specifier.startsWith('#') &&
    !existsSync(join(root, path.replace(/\.js$/, '.ts')))
  )
    throw new Error(`${file} imports ${specifier}, which is not there`);
  return target ?? null;
}

function pathOf(file: string, specifier: string): string | null {
  if (specifier.startsWith('#apps/')) return specifier.slice(1);
  if (specifier.startsWith('#')) return `libs/${specifier.slice(1)}`;
  return specifier.startsWith('.') ? normalize(join(dirname(file), specifier)) : null;
}
