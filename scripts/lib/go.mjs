// Programs built from source with Go.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './clone.mjs';

/** Only reached if a registry hangs. */
const LIMIT_MS = 3_600_000;

/**
 * Runs a Go command, such as `install`, for programs that need no C library.
 * @param {string[]} args
 * @param {{ cwd?: string, env?: Record<string, string> }} options
 * @returns {{ output: string } | { why: string }} its standard output, or why it failed
 */
export function runGo(args, { cwd, env } = {}) {
  if (spawnSync('go', ['version'], { stdio: 'ignore' }).status !== 0) return { why: 'there is no Go' };
  const variables = { ...process.env, CGO_ENABLED: '0', ...env };
  const options = { cwd, encoding: 'utf8', timeout: LIMIT_MS, maxBuffer: 2 ** 26, env: variables };
  const { status, stdout, stderr, error } = spawnSync('go', args, options);
  return status === 0
    ? { output: stdout.trim() }
    : { why: stderr?.trim().split('\n').at(-1) || error?.message };
}

/**
 * A published package's program, built once, which takes minutes. In a separate module, since `go install` also asks
 * the registry for the list of all versions. Its go.mod names a Go version, since without one Go reads every module
 * that another one mentions.
 * @param {{ name: string, module: string, package: string, version: string, mayBuild?: boolean, say: (text: string) => void }} wanted
 *   `package` below the module
 * @returns {{ program: string } | { why: string }} where it is, or why it is missing
 */
export function installGo({ name, module, package: path, version, mayBuild = true, say }) {
  const folder = join(root, '.cache', `${name}-${version}`);
  const program = join(folder, path.split('/').at(-1));
  if (existsSync(program)) return { program };
  if (!mayBuild) return { why: 'it is not built' };
  say(`Building ${name} with Go …`);
  mkdirSync(join(root, '.cache'), { recursive: true });
  const own = mkdtempSync(`${folder}.`);
  try {
    writeFileSync(
      join(own, 'go.mod'),
      `module tollgate.test/program\ngo 1.21\nrequire ${module} ${version}\n`,
    );
    const { why } = runGo(['build', '-mod=mod', '-trimpath', '-o', program, `${module}/${path}`], {
      cwd: own,
    });
    return why === undefined ? { program } : { why: `${name} could not be built (${why})` };
  } finally {
    rmSync(own, { recursive: true, force: true });
  }
}
