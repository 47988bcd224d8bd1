// Builds the pages of the console in a process of its own, while the relay already answers.
import { spawn } from 'node:child_process';
import { mkdirSync, renameSync, rmSync } from 'node:fs';
import { setPriority } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { alone, nodePath } from './bootstrap.mjs';
import { guard } from './children.mjs';
import { root, say } from './clone.mjs';
import { buildConsole, builtPages, pagesAreBuilt } from './console-build.mjs';
import { hasDevelopmentPackages, removeConsolePackages } from './install.mjs';

/** Below the relay, which answers clients on the same cores. */
const PRIORITY = 10;

const file = fileURLToPath(import.meta.url);

/** Starts the build where the pages are not those of the sources. It ends with this process at the latest. */
export function buildPagesMeanwhile() {
  if (pagesAreBuilt()) return;
  const child = spawn(nodePath(), [file], { cwd: root, stdio: ['ignore', 2, 2], detached: true });
  const end = () => {
    try {
      process.kill(-child.pid, 'SIGTERM');
    } catch {
      // It has ended already.
    }
  };
  const lift = guard(child.pid, 'TERM');
  process.once('exit', end);
  child.once('exit', () => {
    lift();
    process.off('exit', end);
  });
  child.once('error', (error) => say(`The pages of the console were not built: ${error.message}`));
  child.unref();
}

async function build() {
  setPriority(PRIORITY);
  await alone('pages', async () => {
    if (pagesAreBuilt()) return;
    say('Building the pages of the console …');
    const fresh = join(root, '.cache', 'console.new');
    mkdirSync(dirname(fresh), { recursive: true });
    try {
      await buildConsole(fresh);
      rmSync(builtPages, { recursive: true, force: true });
      renameSync(fresh, builtPages);
      say('The console is ready.');
    } finally {
      rmSync(fresh, { recursive: true, force: true });
      // Running needs only what was built, so their packages go unless this clone is used for development.
      if (!hasDevelopmentPackages()) removeConsolePackages();
    }
  });
}

if (process.argv[1] === file) {
  try {
    await build();
  } catch (error) {
    say(`The pages of the console were not built: ${error.message}\nTry again with npm run build.`);
    process.exitCode = 1;
  }
}
