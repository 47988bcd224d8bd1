import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { dataFolder, findRunningRelay } from '#operations/data-folder.js';
import { OperatorError } from '#platform/errors.js';
import { builtFolder } from '#platform/places.js';

export interface DemoRelay {
  baseUrl: string;
  /** A key from the environment. Undefined: the demo creates its own account. */
  apiKey: string | undefined;
  /** How it was found, as text for people. */
  origin: string;
  /** Stops the relay if the demo started it. */
  close(): Promise<void>;
}

/** The relay to show: BASE_URL with API_KEY, otherwise the one running on DATA_DIR, otherwise one started for the demo. */
export async function findOrStartRelay(env: NodeJS.ProcessEnv): Promise<DemoRelay> {
  const { BASE_URL: baseUrl, API_KEY: apiKey } = env;
  const close = async () => undefined;
  if (baseUrl) {
    if (!URL.canParse(baseUrl)) throw new OperatorError('BASE_URL must be an absolute URL.');
    if (!apiKey)
      throw new OperatorError('BASE_URL needs API_KEY, and DATABASE_URL or DATA_DIR for the statement.');
    return { baseUrl: baseUrl.replace(/\/+$/, ''), apiKey, origin: 'BASE_URL', close };
  }
  const folder = dataFolder(env);
  const running = await findRunningRelay(folder);
  if (running) {
    return {
      baseUrl: running.baseUrl,
      apiKey: apiKey || undefined,
      origin: `running on ${folder.root}`,
      close,
    };
  }
  return startForDemo(env, folder.root);
}

async function startForDemo(env: NodeJS.ProcessEnv, dataDir: string): Promise<DemoRelay> {
  const program = join(builtFolder, 'apps/standalone/main.js');
  const child = spawn(process.execPath, [program, '--json'], {
    env: { ...env, DATA_DIR: dataDir, PORT: '0', CONSOLE_PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  const close = async () => {
    child.kill('SIGTERM');
    await exited;
  };
  for await (const line of createInterface({ input: child.stdout })) {
    if (!line.startsWith('{')) continue;
    const { baseUrl } = JSON.parse(line) as { baseUrl: string };
    return { baseUrl, apiKey: undefined, origin: `started on ${dataDir}`, close };
  }
  await exited;
  throw new OperatorError('The relay did not start.');
}
