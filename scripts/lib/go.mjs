// Programs built from their sources by Go.
import { spawnSync } from 'node:child_process';

/** Only reached if a registry hangs. */
const LIMIT_MS = 3_600_000;

/**
 * Runs a command of Go, such as `install`, for programs that need no C library.
 * @param {string[]} args
 * @param {{ cwd?: string, env?: Record<string, string> }} options
 * @returns {string | undefined} why it failed
 */
export function runGo(args, { cwd, env } = {}) {
  if (spawnSync('go', ['version'], { stdio: 'ignore' }).status !== 0) return 'there is no Go';
  const variables = { ...process.env, CGO_ENABLED: '0', ...env };
  const options = { cwd, encoding: 'utf8', timeout: LIMIT_MS, maxBuffer: 2 ** 26, env: variables };
  const { status, stderr, error } = spawnSync('go', args, options);
  return status === 0 ? undefined : stderr?.trim().split('\n').at(-1) || error?.message;
}
