// `npm run reference`: writes the reference pages in docs/, and a list for the console, from what the programs declare.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { topicsPage } from './lib/asyncapi.mjs';
import { prepare, underPinnedNode } from './lib/bootstrap.mjs';
import { root, say } from './lib/clone.mjs';
import { configurationPage } from './lib/configuration.mjs';
import { errorsPage } from './lib/errors.mjs';
import { formatted } from './lib/format.mjs';
import { modelsPage, protocolList } from './lib/models.mjs';

const HELP = `Writes the reference pages from what the programs declare:

  docs/configuration.md   every variable, from libs/platform/settings
  docs/errors.md          every error code with what to do
  docs/models.md          what each protocol of vendors offers, and what is tried
  docs/asyncapi.yaml      every topic of the bus, from libs/bus/topics.ts
  apps/console/admin/catalog/protocols.ts   what a channel can use, from libs/upstream/adapters.ts

Usage: npm run reference [-- --help]
`;

if (process.argv.includes('--help')) {
  process.stdout.write(HELP);
} else {
  await prepare();
  await underPinnedNode();
  await write('docs/configuration.md', await configurationPage(ofTheBuild));
  await write('docs/errors.md', await errorsPage(ofTheBuild));
  await write('docs/models.md', await modelsPage(ofTheBuild));
  await write('docs/asyncapi.yaml', await topicsPage(ofTheBuild));
  await write('apps/console/admin/catalog/protocols.ts', await protocolList(ofTheBuild));
}

async function write(name, page) {
  writeFileSync(join(root, name), await formatted(name, page));
  say(`Wrote ${name}.`);
}

/** Imports a built module by its alias. */
function ofTheBuild(alias) {
  const path = alias.startsWith('#apps/') ? alias.slice(1) : `libs/${alias.slice(1)}`;
  return import(pathToFileURL(join(root, 'dist', path)).href);
}
