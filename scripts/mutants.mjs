// `npm run mutants -- --only id …`: plants small faults in copies of the sources and runs the specs that must find
// them.
import { join } from 'node:path';
import { nodePath, prepare } from './lib/bootstrap.mjs';
import { root } from './lib/clone.mjs';
import { runToEnd } from './lib/children.mjs';

await prepare({ build: false });
const sources = join(root, 'test', 'support', 'sources.mjs');
const main = join(root, 'test', 'mutants', 'main.ts');
process.exit(
  await runToEnd(nodePath(), ['--import', sources, main, ...process.argv.slice(2)], { cwd: root }),
);
