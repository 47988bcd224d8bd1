// `npm run pictures`: takes the screenshots in README and docs again, from the real pages in the system's Chromium.
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { missingChromium } from './lib/chromium.mjs';
import { prepare, underPinnedNode } from './lib/bootstrap.mjs';
import { giveUp, root, say } from './lib/clone.mjs';
import { runToEnd } from './lib/children.mjs';
import { showBeside } from './lib/screens-beside.mjs';

const HELP = `Renders the images of README and docs again, from the real pages.

Usage: npm run pictures -- [--beside REVISION] [--help]

  --beside REVISION   renders none; shows the screens of the last TOLLGATE_SCREENS=1 npm test beside those that a clone of the
                      revision makes, as .cache/console-screens/beside.html. The clone installs its packages: this takes a while
`;

const { values } = parseArgs({ options: { beside: { type: 'string' }, help: { type: 'boolean' } } });
if (values.help) {
  process.stdout.write(HELP);
  process.exit();
}
await prepare();
await underPinnedNode();
if (values.beside !== undefined) {
  showBeside(values.beside);
  process.exit();
}
const missing = missingChromium(say);
if (missing) giveUp(missing);
const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
const config = join(root, 'test', 'console', 'pictures.config.mjs');
process.exit(await runToEnd(process.execPath, [vitest, 'run', '--config', config]));
