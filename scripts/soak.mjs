// `npm run soak -- --minutes 3 --seed 1 …`: simulates customers while programs are killed, and checks the books.
import { join } from 'node:path';
import { nodePath, prepare } from './lib/bootstrap.mjs';
import { root } from './lib/clone.mjs';
import { runToEnd } from './lib/children.mjs';

await prepare();
const sources = join(root, 'test', 'support', 'sources.mjs');
const main = join(root, 'test', 'soak', 'main.ts');
process.exit(
  await runToEnd(nodePath(), ['--import', sources, main, ...process.argv.slice(2)], { cwd: root }),
);
