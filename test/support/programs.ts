import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join, resolve } from 'node:path';
import { endWithThisProcess } from './children.js';
import { UNTHROTTLED } from './unthrottled.js';

const root = join(import.meta.dirname, '../..');

export const STANDALONE = 'dist/apps/standalone/main.js';

/** Builds missing or outdated programs, because spawned programs run from dist. */
export function ensureBuilt(): void {
  const script = `await (await import('./scripts/lib/bootstrap.mjs')).prepare()`;
  const result = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    cwd: root,
    encoding: 'utf8',
    // The test runner's NODE_ENV would put React's development build into the pages.
    env: { ...process.env, NODE_ENV: 'production' },
  });
  if (result.status !== 0) throw new Error(`The build failed: ${result.stderr}`);
}

export type Environment = Record<string, string>;

/** The environment for a program, without the settings of this test run. */
export function environment(more: Environment): NodeJS.ProcessEnv {
  const { PATH, HOME, TMPDIR, JDK_JAVA_OPTIONS } = process.env;
  return {
    PATH,
    HOME,
    ...(TMPDIR && { TMPDIR }),
    ...(JDK_JAVA_OPTIONS && { JDK_JAVA_OPTIONS }),
    // A fifth of a start is compiling what the previous start compiled.
    NODE_COMPILE_CACHE: join(root, '.cache/compiled'),
    LOG_LEVEL: 'error',
    ...UNTHROTTLED,
    ...more,
  };
}

export interface Finished {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Runs a built program or a script of the repository to its end. */
export async function run(program: string, args: string[], env: Environment = {}): Promise<Finished> {
  const child = spawn(process.execPath, [join(root, program), ...args], {
    cwd: root,
    env: environment(env),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [stdout, stderr] = [collect(child.stdout), collect(child.stderr)];
  await once(child, 'close');
  return { code: child.exitCode, stdout: stdout(), stderr: stderr() };
}

function collect(stream: NodeJS.ReadableStream): () => string {
  let text = '';
  stream.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  return () => text;
}

export interface Launched {
  /** The first matching line of standard output, including earlier ones. @throws Error if the program ends first */
  line(fits: (line: string) => boolean): Promise<string>;
  stdout(): string;
  stderr(): string;
  /** Resolves when the program has ended, with the signal that ended it, if any. */
  gone: Promise<NodeJS.Signals | null>;
  /** Sends the signal and waits for the program to end. @returns the exit code; null if a signal ended it */
  end(signal: NodeJS.Signals): Promise<number | null>;
}

const stillRunning = new Set<ChildProcess>();

/** Kills whatever a failed test left running. */
export async function killLaunched(): Promise<void> {
  await Promise.all(
    [...stillRunning].map(async (child) => {
      const closed = once(child, 'close');
      child.kill('SIGKILL');
      await closed;
    }),
  );
}

/** Starts a built program that keeps running. `under` is a command that wraps it. */
export function launch(
  program: string,
  args: string[],
  env: Environment,
  under: readonly string[] = [],
): Launched {
  const [command, ...words] = [...under, process.execPath, resolve(root, program), ...args] as [string];
  const child = spawn(command, words, {
    cwd: root,
    env: environment(env),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [stdout, stderr] = [collect(child.stdout), collect(child.stderr)];
  stillRunning.add(child);
  const lift = endWithThisProcess(child.pid ?? 0, 'TERM');
  const closed = once(child, 'close').then(async () => {
    stillRunning.delete(child);
    await lift();
  });
  return {
    stdout,
    stderr,
    gone: closed.then(() => child.signalCode),
    line: async (fits) => {
      for (;;) {
        const found = stdout().split('\n').slice(0, -1).find(fits);
        if (found !== undefined) return found;
        const more = once(child.stdout, 'data').then(() => true);
        if (!(await Promise.race([more, closed.then(() => false)]))) {
          throw new Error(`${program} ended with ${child.exitCode} before that line: ${stderr()}`);
        }
      }
    },
    end: async (signal) => {
      child.kill(signal);
      await closed;
      return child.exitCode;
    },
  };
}

export interface StandaloneProcess extends Launched {
  baseUrl: string;
  consoleUrl: string;
  apiKey: string;
  pid: number;
}

/**
 * Starts the standalone relay on free ports and waits for its ready line. @throws Error with its output if it ends
 * first
 */
export async function startStandalone(
  env: Environment,
  under: readonly string[] = [],
): Promise<StandaloneProcess> {
  const launched = launch(STANDALONE, ['--json'], { PORT: '0', CONSOLE_PORT: '0', ...env }, under);
  const ready = JSON.parse(await launched.line((line) => line.startsWith('{'))) as StandaloneProcess;
  return { ...launched, ...ready };
}
