// A container engine for the tests: the one running here, or else Docker from the system's packages, private to this
// run.
import { spawn, spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { exitOf, guard } from '../children.mjs';
import { missingPrograms } from '../system-packages.mjs';
import { makeBaseImages } from './base-images.mjs';
import { findCompose } from './compose-plugin.mjs';
import { NoEngine } from './no-engine.mjs';

const READY_LIMIT_MS = 180_000;

/**
 * @typedef {object} ContainerEngine
 * @property {Record<string, string>} env with which the commands `docker` and `docker compose` reach it
 * @property {() => Promise<void>} stop ends a private engine and removes what it stored
 */

/**
 * @param {(text: string) => void} say
 * @param {AbortSignal} signal makes it give up and leave nothing behind
 * @returns {Promise<ContainerEngine>} with every base image of this project, pulled or made
 * @throws NoEngine
 */
export async function startEngine(say, signal) {
  const engine = docker(['info']).status === 0 ? sharedEngine() : await privateEngine(say, signal);
  try {
    const compose = findCompose(engine.env, say);
    await engine.prepare();
    return { env: { ...engine.env, ...compose }, stop: engine.stop };
  } catch (error) {
    await engine.stop();
    throw error;
  }
}

/** Its images are not ours to replace. It pulls missing ones when they are needed. */
function sharedEngine() {
  return { env: {}, prepare: async () => undefined, stop: async () => undefined };
}

async function privateEngine(say, signal) {
  if (process.getuid?.() !== 0) throw new NoEngine('no container engine runs, and only root can start one');
  const why = missingPrograms({ dockerd: 'docker.io', docker: 'docker.io', mmdebstrap: 'mmdebstrap' }, say);
  if (why !== null) throw new NoEngine(why);
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-engine-'));
  const socket = `unix://${join(folder, 'docker.sock')}`;
  say(`Starting a container engine in ${folder} …`);
  const child = startDaemon(folder, socket);
  const lift = guard(child.pid, 'TERM');
  const gone = exitOf(child);
  const stop = async () => {
    child.kill('SIGTERM');
    await gone.catch(() => undefined);
    lift();
    unmountBelow(folder);
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await untilReady(child, { socket, folder, signal });
  } catch (error) {
    await stop();
    throw error;
  }
  const env = { DOCKER_HOST: socket };
  return { env, prepare: () => makeBaseImages({ env, say, signal }), stop };
}

/**
 * It leaves the machine's firewall and routes alone. Containers can reach each other, and this machine can reach their
 * ports.
 */
function startDaemon(folder, socket) {
  mkdirSync(join(folder, 'data'));
  const log = openSync(join(folder, 'log'), 'a');
  const child = spawn(
    'dockerd',
    [
      '--iptables=false',
      '--ip-masq=false',
      '--ip-forward=false',
      '--host',
      socket,
      '--data-root',
      join(folder, 'data'),
      '--exec-root',
      join(folder, 'exec'),
      '--pidfile',
      join(folder, 'pid'),
    ],
    { stdio: ['ignore', log, log], detached: true },
  );
  closeSync(log);
  return child;
}

/** The engine leaves its network namespace mounted. */
function unmountBelow(folder) {
  const places = readFileSync('/proc/self/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' ')[1] ?? '')
    .filter((place) => place.startsWith(`${folder}/`));
  // The deepest first.
  for (const place of places.sort().reverse()) spawnSync('umount', [place]);
}

async function untilReady(child, { socket, folder, signal }) {
  const deadline = Date.now() + READY_LIMIT_MS;
  while (docker(['info'], { DOCKER_HOST: socket }).status !== 0) {
    if (signal.aborted) throw new NoEngine('the container engine was stopped');
    const ended = child.exitCode !== null || child.signalCode !== null;
    if (ended || Date.now() > deadline) {
      const last = readFileSync(join(folder, 'log'), 'utf8').trim().split('\n').at(-1);
      throw new NoEngine(`the container engine does not start here (${last})`);
    }
    await pause(200);
  }
}

function docker(args, env = {}) {
  return spawnSync('docker', args, { stdio: 'ignore', timeout: 30_000, env: { ...process.env, ...env } });
}
