// `npm run bench -- ledger|finance|scale|gateway|compare|streams|polling|bodies|console|traces|strangers …`: installs
// and builds what is missing, then runs a benchmark.
import { prepare, runBuilt } from './lib/bootstrap.mjs';

await prepare();
await runBuilt('dist/test/bench/main.js', process.argv.slice(2));
