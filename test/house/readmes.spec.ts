import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const root = join(import.meta.dirname, '../..');
const FOLDERS = ['apps', 'libs', 'test', 'scripts', 'docs', 'monitoring'];

const files = FOLDERS.flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((name) => `${folder}/${name}`),
).filter((name) => !name.includes('/node_modules/'));
const texts = ['README.md', 'CONTRIBUTING.md', ...files.filter((name) => name.endsWith('.md'))];

/** A name without a folder belongs to the README's folder. Otherwise, readers would have to search for it. */
function isThere(text: string, name: string): boolean {
  const own = text.endsWith('/README.md') ? text.slice(0, -'README.md'.length) : '';
  const isFar = name.includes('/');
  return files.some(
    (file) => file === name || ((isFar || file.startsWith(own)) && file.endsWith(`/${name}`)),
  );
}

it('name only files that exist', () => {
  const gone = texts.flatMap((text) => {
    const named = [...readFileSync(join(root, text), 'utf8').matchAll(/`([\w./-]+\.(?:ts|tsx|mjs))`/g)];
    return named
      .map(([, name]) => name!.replace(/^\.\//, ''))
      .filter((name) => !isThere(text, name))
      .map((name) => `${text} names ${name}`);
  });
  expect(gone).toEqual([]);
});

it('say which state of a vendor’s documentation was read', () => {
  const folders = files.flatMap(
    (name) => /^(libs\/upstream\/\w[\w-]*)\/[\w-]+\.protocol\.ts$/.exec(name)?.[1] ?? [],
  );
  expect(folders.length).toBeGreaterThan(8);
  const undated = folders.filter((folder) => {
    const [about = ''] = readFileSync(join(root, folder, 'README.md'), 'utf8').split('\n- ');
    return !/\bas\sof\s20\d\d-\d\d-\d\d\b/.test(about);
  });
  expect(undated).toEqual([]);
});
