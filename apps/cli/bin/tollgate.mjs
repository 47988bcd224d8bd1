#!/usr/bin/env node
// Finds the Node that the project pins and the built command-line tool, and hands over to them. It runs on whatever
// Node the machine has, so it uses nothing that is new.
import { spawn } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = join(dirname(realpathSync(fileURLToPath(import.meta.url))), '..', '..', '..');
const program = join(root, 'dist', 'apps', 'cli', 'main.js');
const pinned = pinnedNode();
/** The oldest Node that the built code and its libraries run on. */
const OLDEST_MAJOR = 24;

/** In the clone, or beside this package where it was installed as one. */
function pinnedNode() {
  try {
    const folder = dirname(createRequire(import.meta.url).resolve('node/package.json'));
    return join(folder, 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
  } catch {
    return '';
  }
}

if (!existsSync(program)) {
  process.stderr.write('Tollgate is not built yet: run `npm run build`, or `npm start` once.\n');
  process.exitCode = 1;
} else if (Number(process.versions.node.split('.')[0]) >= OLDEST_MAJOR) {
  await import(pathToFileURL(program).href);
} else if (existsSync(pinned)) {
  const child = spawn(pinned, [program, ...process.argv.slice(2)], { stdio: 'inherit' });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.on('exit', (code, signal) => {
    process.exitCode = code ?? (signal === 'SIGINT' ? 130 : 143);
  });
} else {
  process.stderr.write(`Tollgate needs Node ${OLDEST_MAJOR}: run \`npm ci\`, which brings it.\n`);
  process.exitCode = 1;
}
