// Helm, which renders and checks the chart: the one that is installed, else built once from its sources by Go, which takes
// minutes.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './clone.mjs';

const MODULE = 'helm.sh/helm/v3/cmd/helm';
const VERSION = 'v3.19.4';
const LIMIT_MS = 1_200_000;

/**
 * @param {{ mayBuild: boolean, say: (text: string) => void }} options
 * @returns {{ program: string } | { why: string }} where it is, or why it is not there
 */
export function findHelm({ mayBuild, say }) {
  if (runs('helm')) return { program: 'helm' };
  const folder = join(root, '.cache', `helm-${VERSION}`);
  const program = join(folder, 'helm');
  if (existsSync(program)) return { program };
  if (!mayBuild) return { why: 'there is no Helm; npm test -- --only chart builds it with Go' };
  if (spawnSync('go', ['version'], { stdio: 'ignore' }).status !== 0)
    return { why: 'there is no Helm, and no Go to build it' };
  say('Building Helm with Go …');
  const env = { ...process.env, GOBIN: folder, CGO_ENABLED: '0' };
  const options = { encoding: 'utf8', timeout: LIMIT_MS, env };
  const { status, stderr, error } = spawnSync('go', ['install', `${MODULE}@${VERSION}`], options);
  if (status === 0) return { program };
  return { why: `Helm could not be built (${stderr?.trim().split('\n').at(-1) || error?.message})` };
}

function runs(program) {
  return spawnSync(program, ['version', '--short'], { stdio: 'ignore' }).status === 0;
}
