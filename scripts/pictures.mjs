// `npm run pictures`: renders the images of README and docs again, from the real pages in the system's Chromium.
import { join } from 'node:path';
import { missingChromium } from './lib/chromium.mjs';
import { prepare, underPinnedNode } from './lib/bootstrap.mjs';
import { giveUp, root, say } from './lib/clone.mjs';
import { runToEnd } from './lib/children.mjs';

await prepare();
await underPinnedNode();
const missing = missingChromium(say);
if (missing) giveUp(missing);
const jest = join(root, 'node_modules', 'jest', 'bin', 'jest.js');
const options = ['--experimental-vm-modules', '--no-warnings', jest, '--testMatch', '**/pictures.run.ts'];
process.exit(await runToEnd(process.execPath, options));
