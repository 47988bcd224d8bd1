// `npm run demo`: installs and builds what is missing, then shows the main features with the real OpenAI client.
import { prepare, runBuilt } from './lib/bootstrap.mjs';

await prepare({ development: false });
await runBuilt('dist/apps/cli/demo.js', process.argv.slice(2));
