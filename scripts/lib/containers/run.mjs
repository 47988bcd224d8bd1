import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);
const MEGABYTE = 1024 * 1024;

/**
 * Runs a command to its end.
 * @param {string[]} command
 * @param {{ env?: Record<string, string>, cwd?: string, minutes?: number, signal?: AbortSignal }} options
 * @returns {Promise<string>} its standard output
 * @throws Error with the last lines of its standard error
 */
export async function runCommand([program, ...args], { env = {}, cwd, minutes = 30, signal } = {}) {
  try {
    const options = {
      env: { ...process.env, ...env },
      cwd,
      timeout: minutes * 60_000,
      maxBuffer: 64 * MEGABYTE,
      signal,
    };
    return (await run(program, args, options)).stdout;
  } catch (error) {
    const last = (error.stderr ?? '').trim().split('\n').slice(-5).join(' | ');
    throw new Error(`${program} ${args.slice(0, 3).join(' ')} failed: ${last || error.message}`, {
      cause: error,
    });
  }
}
