import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Another commit of the project beside this one, installed and built by its own scripts. */
export interface Checkout {
  readonly commit: string;
  readonly root: string;
  remove(): Promise<void>;
}

/** @throws Error when the commit is unknown, or does not install or build. */
export async function checkOut(ref: string): Promise<Checkout> {
  const commit = (await run('git', ['rev-parse', '--verify', `${ref}^{commit}`])).trim();
  const root = await mkdtemp(join(tmpdir(), 'tollgate-compare-'));
  const remove = async (): Promise<void> => void (await run('git', ['worktree', 'remove', '--force', root]));
  await run('git', ['worktree', 'add', '--quiet', '--detach', root, commit]);
  try {
    await run(process.execPath, ['scripts/start.mjs', '--help'], root);
    return { commit, root, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** What it prints; its progress goes to standard error. */
async function run(command: string, args: string[], cwd?: string): Promise<string> {
  const child = spawn(command, args, { cwd, stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${code}`);
  return output;
}
