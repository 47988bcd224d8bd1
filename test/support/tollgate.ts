import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { type Environment, environment, type Finished } from './programs.js';

const root = join(import.meta.dirname, '../..');

interface Resident {
  child: ChildProcess;
  /** Rejects when the process ends. */
  gone: Promise<never>;
}

let resident: Resident | undefined;

/**
 * Runs a command of the built command line to its end. Commands run one at a time, in a process that the specs of a
 * worker share and that ends with the worker.
 * @throws Error if a command ends that process
 */
export async function runTollgate(args: readonly string[], env: Environment = {}): Promise<Finished> {
  resident ??= start();
  const { child, gone } = resident;
  const finished = once(child, 'message') as Promise<[Finished]>;
  child.send({ args, env: environment(env) });
  const [answer] = await Promise.race([finished, gone]);
  return answer;
}

function start(): Resident {
  const options = { cwd: root, env: environment({}), execArgv: [] };
  const child = fork(join(import.meta.dirname, 'tollgate.resident.mjs'), ['dist/apps/cli/main.js'], options);
  const gone = once(child, 'exit').then(([code, signal]) => {
    throw new Error(`The process of the command line ended: ${code ?? signal}`);
  });
  gone.catch(() => undefined);
  return { child, gone };
}
