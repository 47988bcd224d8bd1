// `npm run rehearse -- --only standby …`: installs and builds what is missing, then rehearses failovers of the built programs.
import { join } from 'node:path';
import { nodePath, prepare } from './lib/bootstrap.mjs';
import { root } from './lib/clone.mjs';
import { runToEnd } from './lib/children.mjs';

await prepare();
const sources = join(root, 'test', 'support', 'sources.mjs');
const main = join(root, 'test', 'rehearsals', 'main.ts');
process.exit(
  await runToEnd(nodePath(), ['--import', sources, main, ...process.argv.slice(2)], { cwd: root }),
);
