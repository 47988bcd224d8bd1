import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';

/** How long a child may take to stop by itself. */
const STOP_LIMIT_MS = 40_000;

/** The processes of a benchmark. They always end in reverse order, by their IDs. */
export class Children {
  private readonly running: ChildProcess[] = [];
  private readonly afterwards: (() => Promise<void>)[] = [];

  /** Adds a step to run once all children have ended. It must be safe to run twice. */
  whenGone(step: () => Promise<void>): void {
    this.afterwards.push(step);
  }

  /** Starts a module that exchanges messages with its parent. */
  fork(module: URL): ChildProcess {
    return this.add(fork(module, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] }));
  }

  /**
   * Starts a program and resolves with the first line of its output that is a JSON object.
   * @throws Error if it ends first, or takes too long
   */
  async startUntilReady<T>(
    args: string[],
    options: { env: NodeJS.ProcessEnv; limitMs: number },
  ): Promise<{ child: ChildProcess; ready: T }> {
    const script = pathToFileURL(join(process.cwd(), 'scripts/lib/clone.mjs')).href;
    const { nodeFlags } = (await import(script)) as { nodeFlags: string[] };
    const child = this.add(
      // In a separate group, so that this program passes on a Ctrl-C.
      spawn(process.execPath, [...nodeFlags, ...args], {
        env: options.env,
        stdio: ['ignore', 'pipe', 'pipe'],
        detached: true,
      }),
    );
    const complaint = tailOf(child);
    const timer = setTimeout(() => child.kill('SIGTERM'), options.limitMs);
    try {
      for await (const line of createInterface({ input: child.stdout as NodeJS.ReadableStream })) {
        if (!line.startsWith('{')) continue;
        child.stdout?.resume();
        return { child, ready: JSON.parse(line) as T };
      }
    } finally {
      clearTimeout(timer);
    }
    throw new Error(`${args.join(' ')} did not start:\n${complaint()}`);
  }

  /** Ends one child. Resolves when it has ended. */
  async stop(child: ChildProcess): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill('SIGTERM');
    const timer = setTimeout(() => child.kill('SIGKILL'), STOP_LIMIT_MS);
    await gone;
    clearTimeout(timer);
  }

  async stopAll(): Promise<void> {
    for (const child of this.running.splice(0).reverse()) await this.stop(child);
    for (const step of this.afterwards.splice(0)) await step();
  }

  /** Ends this child together with the others. */
  add(child: ChildProcess): ChildProcess {
    this.running.push(child);
    return child;
  }
}

/** Does the work and then cleans up, even if a signal interrupts it. The clean-up may run twice. */
export async function cleanedUp<T>(cleanUp: () => Promise<void>, work: () => Promise<T>): Promise<T> {
  const interrupted = (signal: NodeJS.Signals): void => {
    process.stderr.write(`\n${signal}: stopping\n`);
    void cleanUp().finally(() => process.exit(130));
  };
  process.once('SIGINT', interrupted).once('SIGTERM', interrupted);
  try {
    return await work();
  } finally {
    await cleanUp();
    process.off('SIGINT', interrupted).off('SIGTERM', interrupted);
  }
}

/** Does work with children, and stops them all at the end. */
export function withChildren<T>(work: (children: Children) => Promise<T>): Promise<T> {
  const children = new Children();
  return cleanedUp(
    () => children.stopAll(),
    () => work(children),
  );
}

/** The next message from a child. @throws Error if the child ends first */
export async function messageOf<T>(child: ChildProcess): Promise<T> {
  const ended = new AbortController();
  const message = once(child, 'message', { signal: ended.signal });
  const exit = once(child, 'exit', { signal: ended.signal }).then(([code]) => {
    throw new Error(`a child process ended with ${code} before it answered`);
  });
  exit.catch(() => undefined);
  try {
    const [value] = (await Promise.race([message, exit])) as [T];
    return value;
  } finally {
    ended.abort();
    message.catch(() => undefined);
  }
}

const TAIL_CHARS = 2_000;

/** Keeps the last part of a child's standard error. */
function tailOf(child: ChildProcess): () => string {
  let tail = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    tail = (tail + chunk.toString()).slice(-TAIL_CHARS);
  });
  return () => tail;
}
