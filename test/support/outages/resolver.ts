import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NameServer } from '../name-server.js';
import type { Undo } from './undo.js';

/** A name server, and a command that runs another command with it as its resolver. */
export interface Resolver {
  names: NameServer;
  under: readonly string[];
}

/** @throws Error if this is not root: only root may mount a file over /etc/resolv.conf, or use the port of name servers */
export async function startResolver(undo: Undo, known: readonly string[]): Promise<Resolver> {
  if (spawnSync('unshare', ['--mount', 'true']).status !== 0)
    throw new Error('unshare --mount failed, is this root?');
  const names = await undo.during(
    () => NameServer.open(known),
    (opened) => opened.close(),
  );
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-names-'));
  undo.add(async () => rmSync(folder, { recursive: true }));
  const file = join(folder, 'resolv.conf');
  writeFileSync(file, names.configuration, { mode: 0o644 });
  const script = 'mount --bind "$0" /etc/resolv.conf && exec "$@"';
  return { names, under: ['unshare', '--mount', 'sh', '-c', script, file] };
}

/** A URL with this name as its host. */
export function named(url: string, name: string): string {
  const led = new URL(url);
  led.hostname = name;
  return led.toString();
}
