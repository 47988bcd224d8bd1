// `npm run docs`: the documentation site, from its sources.
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { prepare, underPinnedNode } from './lib/bootstrap.mjs';
import { giveUp, root } from './lib/clone.mjs';
import { buildDocs, serveDocs, writeApiPages } from './lib/docs-build.mjs';
import { installDocsPackages } from './lib/install.mjs';

const HELP = `Serves the documentation while you write it, or builds it for the control plane, which serves it at /docs.

Usage: npm run docs -- [--build] [--port PORT] [--help]

  --build       build it into dist/docs and end; fails where a link leads nowhere
  --port PORT   where to serve it (5174)

Its packages are its own, in docs/package.json: about 110 MB that are installed by the first use of this command.
`;

const { values } = parseArgs({
  options: {
    build: { type: 'boolean', default: false },
    port: { type: 'string', default: '5174' },
    help: { type: 'boolean', short: 'h', default: false },
  },
});

if (values.help) {
  process.stdout.write(HELP);
} else {
  try {
    await main();
  } catch (error) {
    giveUp(error.message);
  }
}

async function main() {
  await prepare();
  await underPinnedNode();
  installDocsPackages();
  if (values.build) return buildDocs(join(root, 'dist'));
  await writeApiPages(join(root, 'dist'));
  process.exit(await serveDocs(Number(values.port)));
}
