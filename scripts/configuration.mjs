// `npm run configuration`: writes docs/configuration.md from the settings that the programs declare.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import * as prettier from 'prettier';
import { prepare, root, say } from './lib/bootstrap.mjs';
import { configurationPage } from './lib/configuration.mjs';

const HELP = `Writes docs/configuration.md from the settings that the programs declare in libs/platform/settings.

Usage: npm run configuration [-- --help]
`;

if (process.argv.includes('--help')) {
  process.stdout.write(HELP);
} else {
  await prepare();
  const file = join(root, 'docs/configuration.md');
  const page = await configurationPage(ofTheBuild);
  const options = await prettier.resolveConfig(file);
  writeFileSync(file, await prettier.format(page, { ...options, parser: 'markdown' }));
  say('Wrote docs/configuration.md.');
}

/** Imports a built module by its alias. */
function ofTheBuild(alias) {
  const path = alias.startsWith('#apps/') ? alias.slice(1) : `libs/${alias.slice(1)}`;
  return import(pathToFileURL(join(root, 'dist', path)).href);
}
