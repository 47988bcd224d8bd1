import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startSandbox } from '#apps/sandbox-upstream/sandbox-server.js';
import { NameServer } from '../support/name-server.js';
import { TcpSwitch } from '../support/tcp-switch.js';
import { startDatabase } from './database.js';
import type { Rehearsal, Scene } from './rehearsal.js';
import type { Undo } from './undo.js';

const DATABASE = 'database.test';
const UPSTREAM = 'upstream.test';
const SANDBOX_API_KEY = 'sandbox-key';
/** Calls while no name resolves. */
const CALLS = 40;

/** Open connections do not need a name, so they are cut as well. */
export const namesGone: Rehearsal = {
  name: 'names',
  fault: 'the name server silent and every connection to PostgreSQL and the upstream cut (needs root)',
  isQuick: false,
  prepare: async (undo) => {
    const names = await undo.during(
      () => NameServer.open([DATABASE, UPSTREAM]),
      (opened) => opened.close(),
    );
    const database = await startDatabase(undo, tmpdir());
    const upstream = await startUpstream(undo);
    const ways = [database.way, upstream.way];
    return {
      under: resolvedBy(names, undo),
      env: {
        DATABASE_URL: named(database.env['DATABASE_URL']!, DATABASE),
        ADMIN_DATABASE_URL: named(database.env['ADMIN_DATABASE_URL']!, DATABASE),
        SANDBOX_URL: `http://${UPSTREAM}:${upstream.way.port}`,
        SANDBOX_API_KEY,
      },
      reach: { databaseUrl: database.env['DATABASE_URL']!, sandboxUrl: upstream.url },
      hurt: async ({ load }) => {
        names.silence();
        for (const way of ways) way.cut();
        await load.failing(CALLS);
        names.speak();
        return performance.now();
      },
    };
  },
};

async function startUpstream(undo: Undo): Promise<{ url: string; way: TcpSwitch }> {
  const sandbox = await undo.during(
    () => startSandbox({ apiKey: SANDBOX_API_KEY, imageSeconds: 0, videoSeconds: 0.3 }),
    (started) => started.close(),
  );
  const way = await undo.during(
    () => TcpSwitch.open({ host: '127.0.0.1', port: sandbox.port }),
    (opened) => opened.close(),
  );
  return { url: sandbox.url, way };
}

function named(url: string, name: string): string {
  const led = new URL(url);
  led.hostname = name;
  return led.toString();
}

/** A command that runs another command with a different resolver. Only root may mount a file over /etc/resolv.conf. */
export function resolvedBy(names: NameServer, undo: Undo): Scene['under'] {
  if (spawnSync('unshare', ['--mount', 'true']).status !== 0)
    throw new Error('unshare --mount failed, is this root?');
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-names-'));
  undo.add(async () => rmSync(folder, { recursive: true }));
  const file = join(folder, 'resolv.conf');
  writeFileSync(file, names.configuration, { mode: 0o644 });
  const script = 'mount --bind "$0" /etc/resolv.conf && exec "$@"';
  return ['unshare', '--mount', 'sh', '-c', script, file];
}
