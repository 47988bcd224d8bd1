// Helm, which renders, checks and installs the chart: the one that is installed, else built once from its sources by Go, which
// takes minutes.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './clone.mjs';
import { runGo } from './go.mjs';

const MODULE = 'helm.sh/helm/v3/cmd/helm';
const VERSION = 'v3.19.4';

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
  say('Building Helm with Go …');
  const why = runGo(['install', `${MODULE}@${VERSION}`], { env: { GOBIN: folder } });
  return why === undefined ? { program } : { why: `Helm could not be built (${why})` };
}

function runs(program) {
  return spawnSync(program, ['version', '--short'], { stdio: 'ignore' }).status === 0;
}
