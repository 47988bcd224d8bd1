// The screenshots of every page next to those of an earlier revision, on one page to look through. None of it is part
// of the repository.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { giveUp, root, say } from './clone.mjs';
import { withoutNpmRun } from './install.mjs';

const SCREENS = join('.cache', 'console-screens');

/**
 * Has a clone of the revision take its screenshots with its own tests, unless it has already, and writes the page.
 * @param {string} revision anything that git knows
 */
export function showBeside(revision) {
  const now = join(root, SCREENS);
  if (!existsSync(now))
    giveUp('There are no screens yet: run TOLLGATE_SCREENS=1 npm test -- --only build,console first.');
  const clone = join(root, '.cache', 'beside', shortName(revision));
  const before = join(clone, SCREENS);
  if (!existsSync(before)) makeScreens(clone, revision);
  if (!existsSync(before)) giveUp(`The tests of ${revision} left no screens, see above.`);
  const page = join(now, 'beside.html');
  writeFileSync(page, pageOf(page, { now, before, revision }));
  say(`Open ${page}`);
}

function shortName(revision) {
  const found = git(root, 'rev-parse', '--short', '--verify', `${revision}^{commit}`);
  if (found.status !== 0) giveUp(`git knows no revision ${revision}.`);
  return found.stdout.trim();
}

/** Its tests may fail on this machine. The screenshots that they took until then are still worth looking at. */
function makeScreens(clone, revision) {
  mkdirSync(dirname(clone), { recursive: true });
  if (!existsSync(clone)) git(root, 'clone', '--quiet', '--no-checkout', root, clone);
  if (git(clone, 'checkout', '--quiet', '--detach', shortName(revision)).status !== 0)
    giveUp(`${revision} could not be checked out in ${clone}.`);
  const args = ['scripts/test.mjs', '--only', 'build,console'];
  spawnSync(process.execPath, args, {
    cwd: clone,
    stdio: ['ignore', 2, 2],
    env: { ...withoutNpmRun(), TOLLGATE_SCREENS: '1' },
  });
}

function git(cwd, ...args) {
  return spawnSync('git', args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 2] });
}

function pageOf(page, { now, before, revision }) {
  const [older, newer] = [screensIn(before), screensIn(now)];
  const image = (file) =>
    file ? `<img loading="lazy" src="${relative(dirname(page), file)}">` : '<i>no such page</i>';
  const pageNamed = (name) => name.replace(/-(en|zh)-(light|dark).*$/, '');
  const known = new Set([...older.keys()].map(pageNamed));
  // For a page that existed before, only the looks in which it was shown then.
  const isShown = (name) => older.has(name) || !known.has(pageNamed(name));
  const rows = [...new Set([...older.keys(), ...newer.keys()])]
    .filter(isShown)
    .sort()
    .map((name) => `<h2>${name}</h2><div>${image(older.get(name))}${image(newer.get(name))}</div>`);
  return `<!doctype html><meta charset="utf-8"><title>Beside ${revision}</title>
<style>body{font-family:sans-serif}div{display:flex;gap:1rem;align-items:start}img,i{width:50%;border:1px solid}</style>
<h1>${revision} on the left, this on the right</h1>
${rows.join('\n')}
`;
}

/** By area, page, language, theme and width. What was called narrow is now a phone, and no width means a desktop. */
function screensIn(folder) {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.png'),
  );
  const nameOf = (name) =>
    name
      .replace('.png', '')
      .replace(/-(narrow|phone)$/, ' phone')
      .replace(/-wide$/, '');
  return new Map(names.map((name) => [nameOf(name), join(folder, name)]));
}
