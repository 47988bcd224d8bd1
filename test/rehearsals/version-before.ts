import { globSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { checkOut, type Checkout, git } from '../support/checkout.js';
import { CannotRunHere } from './result.js';

const MIGRATIONS = 'libs/database/migrations';
const RELEASES = 'v[0-9]*';
/** Built once for each commit. */
const FOLDER = join('.cache', 'version-before');

/**
 * The version that an upgrade to this one comes from: the newest release, if there is one, else the newest commit that
 * lacks the latest migrations. So nobody has to name it, and a release becomes it by its tag.
 * @throws CannotRunHere without the history that tells
 */
async function versionBefore(): Promise<string> {
  try {
    return (await lastRelease()) ?? (await beforeLastMigrations());
  } catch (error) {
    if (error instanceof CannotRunHere) throw error;
    throw new CannotRunHere(
      `it needs git and a clone with its history, to find the version before. ${(error as Error).message}`,
    );
  }
}

/** Its programs, built. */
export async function checkOutVersionBefore(): Promise<Checkout> {
  const commit = await versionBefore();
  mkdirSync(FOLDER, { recursive: true });
  for (const name of readdirSync(FOLDER)) {
    if (!name.startsWith(commit)) rmSync(join(FOLDER, name), { recursive: true, force: true });
  }
  return checkOut(commit, join(FOLDER, commit));
}

async function lastRelease(): Promise<string | undefined> {
  const head = await commitOf('HEAD');
  const tags = linesOf(await git(['tag', '--list', RELEASES, '--merged', 'HEAD', '--sort=-version:refname']));
  for (const tag of tags) {
    const commit = await commitOf(tag);
    if (commit !== head) return commit;
  }
  return undefined;
}

/** A database of that commit must be one that ours can migrate: it has the first of our migrations, and no other. */
async function beforeLastMigrations(): Promise<string> {
  const ours = globSync(`${MIGRATIONS}/*.sql`).sort();
  const changes = linesOf(await git(['log', '--format=%H', '--', MIGRATIONS]));
  for (const ref of ['HEAD', ...changes.map((commit) => `${commit}^`)]) {
    const commit = await commitOf(ref);
    const theirs = linesOf(await git(['ls-tree', '--name-only', commit, `${MIGRATIONS}/`]));
    if (theirs.length < ours.length && theirs.every((name, index) => name === ours[index])) return commit;
  }
  throw new CannotRunHere('no commit in the history of this clone lacks only the latest migrations.');
}

async function commitOf(ref: string): Promise<string> {
  return (await git(['rev-parse', '--verify', `${ref}^{commit}`])).trim();
}

function linesOf(text: string): string[] {
  return text.split('\n').filter((line) => line !== '');
}
