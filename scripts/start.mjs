// `npm start`: installs and builds what is missing, then runs the standalone relay.
import { runBuilt } from './lib/bootstrap.mjs';

await runBuilt('dist/apps/standalone/main.js', process.argv.slice(2));
