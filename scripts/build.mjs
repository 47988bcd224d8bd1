// `npm run build`: builds the programs into dist/ with swc, and the console's pages into dist/console with Vite.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { alone, builtFrom, markBuilt, unmarkBuilt } from './lib/bootstrap.mjs';
import { bundlePrograms } from './lib/bundle.mjs';
import { giveUp, root } from './lib/clone.mjs';
import { buildConsole } from './lib/console-build.mjs';
import { describeControlPlane } from './lib/api-documents.mjs';
import { clientTypes } from './lib/console-client.mjs';
import { buildDocs } from './lib/docs-build.mjs';
import { canBuildDocs } from './lib/docs-site.mjs';

const HELP = `Builds the programs and the pages of the console.

Usage: npm run build [-- --out-dir DIR] [--programs] [--help]

  --out-dir DIR   where to (dist)
  --programs      without the pages

The pages are built again only where something of theirs changed. The build fails where the JavaScript that a first
page loads has grown over its limit. The types of the console's client, which only checks read, are written where the packages
for development are installed. So is the documentation where its own are: npm run docs -- --build installs them.
`;

const { values } = parseArgs({
  options: {
    'out-dir': { type: 'string', default: 'dist' },
    programs: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  },
});

if (values.help) {
  process.stdout.write(HELP);
} else {
  const out = resolve(root, values['out-dir']);
  if (existsSync(join(out, 'scripts')))
    giveUp('--out-dir needs a folder of its own: folders in it are replaced.');
  // `npm start` swaps dist.
  if (out === join(root, 'dist')) await alone('bootstrap', () => build(out));
  else await build(out);
}

async function build(out) {
  const stamp = builtFrom();
  unmarkBuilt(out);
  try {
    buildModules(out);
    await bundlePrograms(out);
    await writeClient(out);
    if (!values.programs) await buildConsole(join(out, 'console'));
    if (!values.programs && canBuildDocs()) await buildDocs(out);
    markBuilt(out, stamp);
  } catch (error) {
    giveUp(error.stack ?? error.message);
  }
}

function buildModules(out) {
  const swc = join(root, 'node_modules', '@swc', 'cli', 'bin', 'swc.js');
  const folders = ['apps', 'libs', 'test/support', 'test/console/support', 'test/bench'];
  const ignored = ['--ignore', '**/*.spec.ts,apps/console/**'];
  const options = ['--out-dir', out, '--config-file', '.swcrc', '--copy-files', '--quiet'];
  // Files whose source is gone must not remain.
  for (const folder of ['apps', 'libs', 'test']) rmSync(join(out, folder), { recursive: true, force: true });
  const { status } = spawnSync(process.execPath, [swc, ...folders, ...options, ...ignored], {
    cwd: root,
    stdio: 'inherit',
  });
  if (status !== 0) giveUp('The programs could not be built, see above.');
  writePackage(out);
}

/** `#ledger/...` means the built file in built programs, and the source in the sources. */
function writePackage(out) {
  const { version, type, imports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const built = Object.fromEntries(
    Object.entries(imports).map(([name, source]) => [name, source.replace(/\.ts$/, '.js')]),
  );
  const file = join(out, 'package.json');
  writeFileSync(file, `${JSON.stringify({ version, type, imports: built }, null, 2)}\n`);
}

/** Pages are checked against it, and need no check if it has not changed. */
async function writeClient(dist) {
  if (!existsSync(join(root, 'node_modules', 'openapi-typescript'))) return;
  const types = await clientTypes(await describeControlPlane(dist));
  const file = join(root, 'apps/console/api/schema.ts');
  if (!existsSync(file) || readFileSync(file, 'utf8') !== types) writeFileSync(file, types);
}
