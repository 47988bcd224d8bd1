import { spawnSync } from 'node:child_process';
import { chownSync, mkdirSync, readFileSync, statSync } from 'node:fs';

/** The system user that runs the server. `null` ids mean the user who runs this process. */
export interface ServerAccount {
  uid: number | null;
  gid: number | null;
}

/** `nobody` on every system that has no user `postgres`. */
const NOBODY = 65534;

/**
 * The user who runs a server on this data folder: this user, or, since PostgreSQL refuses to run as root, the owner of
 * the data that is there, else user `postgres`, else nobody.
 */
export function serverAccountFor(pgdata: string): ServerAccount {
  if (process.getuid?.() !== 0) return { uid: null, gid: null };
  const owner = statSync(pgdata, { throwIfNoEntry: false });
  if (owner && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid };
  return userNamedPostgres() ?? { uid: NOBODY, gid: NOBODY };
}

function userNamedPostgres(): ServerAccount | undefined {
  try {
    const line = readFileSync('/etc/passwd', 'utf8')
      .split('\n')
      .find((entry) => entry.startsWith('postgres:'));
    const [, , uid, gid] = line?.split(':') ?? [];
    return uid && gid && uid !== '0' ? { uid: Number(uid), gid: Number(gid) } : undefined;
  } catch {
    return undefined;
  }
}

/** Options for child_process that run a command as this account. */
export function runAs(account: ServerAccount): { uid?: number; gid?: number; cwd: string } {
  const cwd = '/';
  return account.uid === null || account.gid === null ? { cwd } : { uid: account.uid, gid: account.gid, cwd };
}

/** Creates a folder that only this account may enter. */
export function makePrivateFolder(folder: string, account: ServerAccount): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  giveTo(folder, account);
}

export function giveTo(path: string, account: ServerAccount): void {
  if (account.uid !== null && account.gid !== null) chownSync(path, account.uid, account.gid);
}

/** Whether the account can enter the folder by its path: a parent such as /root may be closed to it. */
export function canEnter(folder: string, account: ServerAccount): boolean {
  return spawnSync('/bin/sh', ['-c', 'cd "$1"', 'sh', folder], runAs(account)).status === 0;
}
