import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { OperatorError } from '#platform/errors.js';
import { type Login, databaseRoles } from './roles.js';

/** What a data folder holds beside the database itself. */
export type ServerFiles = ReturnType<typeof filesIn>;

export function filesIn(dataDir: string) {
  return {
    pgdata: join(dataDir, 'pgdata'),
    socket: join(dataDir, 'socket'),
    passwords: join(dataDir, 'passwords.json'),
    record: join(dataDir, 'server.json'),
    lock: join(dataDir, 'owner.lock'),
    log: join(dataDir, 'server.log'),
  };
}

export type Passwords = Record<Login, string>;

const logins: readonly Login[] = ['admin', ...databaseRoles];

export function readPasswords(file: string): Passwords {
  return JSON.parse(readFileSync(file, 'utf8')) as Passwords;
}

export function readOrMakePasswords(file: string, pgdata: string): Passwords {
  const known: Partial<Passwords> = existsSync(file) ? readPasswords(file) : {};
  if (existsSync(pgdata) && !known.owner) {
    throw new OperatorError(`The file with the database passwords, ${file}, is missing. Restore it.`);
  }
  // An installation of an earlier version has none for the admin.
  const missing = logins.filter((login) => known[login] === undefined);
  if (missing.length === 0) return known as Passwords;
  const made = Object.fromEntries(missing.map((login) => [login, randomBytes(24).toString('hex')]));
  const all = { ...known, ...made } as Passwords;
  const draft = `${file}.new`;
  writeFileSync(draft, JSON.stringify(all), { mode: 0o600, flush: true });
  renameSync(draft, file);
  return all;
}
