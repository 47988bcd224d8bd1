// `npm start`: installs and builds what is missing, then runs the standalone relay. The console's pages are built
// meanwhile.
import { prepare, runBuilt } from './lib/bootstrap.mjs';
import { buildPagesMeanwhile } from './lib/pages-child.mjs';

await prepare({ development: false });
buildPagesMeanwhile();
await runBuilt('dist/apps/standalone/main.js', process.argv.slice(2));
