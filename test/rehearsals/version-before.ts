import { globSync, rmSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { ownMigrations } from '#database/migration-history.js';
import { checkOut, type Checkout, git, NotInstalled } from '../support/checkout.js';
import { CannotRunHere } from './result.js';

const MIGRATIONS = 'libs/database/migrations';
const RELEASES = 'v[0-9]*';
/** Built once per commit. */
const FOLDER = join('.cache', 'version-before');
/** No run takes this long, so a checkout last used before then is free. */
const KEPT_MS = 24 * 3_600_000;

/**
 * The version that upgrades to this one start from: the newest release, or without one, the newest commit without the
 * latest migrations. It needs no configuration, and a new release takes over by its tag.
 * @param clone the folder
 * @throws CannotRunHere without the necessary history; Error if it still uses what our migrations remove
 */
export async function versionBefore(clone: string): Promise<string> {
  const history = new History(clone);
  const commit = await found(history);
  await refuseEarlyContraction(history, commit);
  return commit;
}

async function found(history: History): Promise<string> {
  try {
    return (await lastRelease(history)) ?? (await beforeLastMigrations(history));
  } catch (error) {
    const isShallow = await history.isShallow();
    const why = isShallow
      ? 'this clone is shallow: `git fetch --unshallow --tags` completes it.'
      : (error as Error).message;
    throw new CannotRunHere(`it needs git and a clone with its history, to find the version before. ${why}`);
  }
}

/** Its programs, built. */
export async function checkOutVersionBefore(): Promise<Checkout> {
  const commit = await versionBefore(process.cwd());
  removeUnused(FOLDER);
  try {
    return await checkOut(commit, join(FOLDER, commit));
  } catch (error) {
    const { message } = error as Error;
    if (error instanceof NotInstalled) throw new CannotRunHere(message);
    throw new Error(`the version before does not serve the rehearsal: ${message}`, { cause: error });
  }
}

/** Removes checkouts that have not been used for a long time. */
export function removeUnused(folder: string): void {
  for (const path of globSync(`${folder}/*`)) {
    const usedAt = statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Infinity;
    if (usedAt < Date.now() - KEPT_MS) rmSync(path, { recursive: true, force: true });
  }
}

async function lastRelease(history: History): Promise<string | undefined> {
  const head = await history.commitOf('HEAD');
  for (const tag of await history.releases()) {
    const commit = await history.commitOf(tag);
    if (commit !== head) return commit;
  }
  return undefined;
}

/** Our migrations must fit a database of that commit: it has the first of them, and no others. */
async function beforeLastMigrations(history: History): Promise<string> {
  const ours = ownMigrations(join(history.clone, MIGRATIONS)).map(({ name }) => name);
  for (const ref of ['HEAD', ...(await history.changesOf(MIGRATIONS)).map((commit) => `${commit}^`)]) {
    const commit = await history.commitOf(ref);
    const theirs = await history.namesIn(commit, MIGRATIONS);
    if (theirs.length < ours.length && theirs.every((name, index) => name === ours[index])) return commit;
  }
  throw new Error('No commit in the history of this clone lacks only the latest migrations.');
}

/** The version before must not use what a migration removes, because its programs still run on the new schema. */
async function refuseEarlyContraction(history: History, commit: string): Promise<void> {
  const theirs = await history.namesIn(commit, MIGRATIONS);
  const last = (theirs.at(-1) ?? '').slice(0, 4);
  const early = ownMigrations(join(history.clone, MIGRATIONS)).find(
    ({ name, needs }) => name.slice(0, 4) > last && (needs ?? '') > last,
  );
  if (!early) return;
  throw new Error(
    `${early.name} needs programs that know ${early.needs}, and the version before, ${commit}, knows ${last} at most: take it away in a later version.`,
  );
}

class History {
  constructor(readonly clone: string) {}

  /** Newest first. A release comes before its candidates, such as v2.0.0-rc.1. */
  releases(): Promise<string[]> {
    const sorted = ['-c', 'versionsort.suffix=-', 'tag', '--sort=-version:refname'];
    return this.lines([...sorted, '--list', RELEASES, '--merged', 'HEAD']);
  }

  async commitOf(ref: string): Promise<string> {
    return (await this.lines(['rev-parse', '--verify', `${ref}^{commit}`]))[0]!;
  }

  changesOf(path: string): Promise<string[]> {
    return this.lines(['log', '--format=%H', '--', path]);
  }

  async namesIn(commit: string, folder: string): Promise<string[]> {
    const paths = await this.lines(['ls-tree', '--name-only', commit, `${folder}/`]);
    return paths.map((path) => basename(path)).filter((name) => name.endsWith('.sql'));
  }

  isShallow(): Promise<boolean> {
    return this.lines(['rev-parse', '--is-shallow-repository']).then(
      ([answer]) => answer === 'true',
      () => false,
    );
  }

  private async lines(args: readonly string[]): Promise<string[]> {
    const text = await git(['-C', this.clone, ...args]);
    return text.split('\n').filter((line) => line !== '');
  }
}
