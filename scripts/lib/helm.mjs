// Helm, which renders, checks and installs the chart: the installed one, or else built once from source with Go.
import { spawnSync } from 'node:child_process';
import { installGo } from './go.mjs';

const HELM = { name: 'helm', module: 'helm.sh/helm/v3', package: 'cmd/helm', version: 'v3.19.4' };

/**
 * @param {{ mayBuild: boolean, say: (text: string) => void }} options
 * @returns {{ program: string } | { why: string }} where it is, or why it is missing
 */
export function findHelm({ mayBuild, say }) {
  if (runs('helm')) return { program: 'helm' };
  const found = installGo({ ...HELM, mayBuild, say });
  if (found.program !== undefined || mayBuild) return found;
  return { why: 'there is no Helm; npm test -- --only chart builds it with Go' };
}

function runs(program) {
  return spawnSync(program, ['version', '--short'], { stdio: 'ignore' }).status === 0;
}
