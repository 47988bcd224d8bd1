// `npm run dev`: runs a whole relay from its sources. Programs restart and pages change when their files do.
import { spawn, spawnSync } from 'node:child_process';
import { watch } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { nodePath, prepare, underPinnedNode } from './lib/bootstrap.mjs';
import { nodeFlags, root, say } from './lib/clone.mjs';
import { exitOf, guard } from './lib/children.mjs';
import { servePages } from './lib/pages.mjs';

const HELP = `Runs a whole relay for working on it: what changes in apps/ and libs/ is built and started again, and the console's
pages follow their sources at once.

Usage: npm run dev [-- --port PORT] [--json] [--help]

  --port PORT   where to serve the console's pages (5173)
  --json        print one JSON line when ready: {"ready":true,"pages","baseUrl","consoleUrl","apiKey"}

The variables of npm start are read. Ctrl-C ends it.
`;

/** An editor writes several files per save. */
const QUIET_MS = 150;

const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '5173' },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  },
});

if (values.help) process.stdout.write(HELP);
else await main();

async function main() {
  await prepare();
  await underPinnedNode();
  let relay = startRelay(process.env);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => void stop());
  const ready = await relay.ready;
  const pages = await servePages({ relay: ready.consoleUrl, port: Number(values.port), quiet: true });
  announce(ready, pages.resolvedUrls.local[0].replace(/\/$/, ''));

  // Restarts use the same ports as the first start.
  const env = { ...process.env, PORT: portOf(ready.baseUrl), CONSOLE_PORT: portOf(ready.consoleUrl) };
  onChange(async () => {
    if (!build()) return;
    await relay.stop();
    relay = startRelay(env);
    const again = await relay.ready.catch(() => null);
    say(again ? 'Started again.' : 'It did not start; it is tried again after the next change.');
  });

  async function stop() {
    await relay.stop();
    process.exit(0);
  }
}

function announce({ baseUrl, consoleUrl, apiKey }, pages) {
  if (values.json) {
    process.stdout.write(`${JSON.stringify({ ready: true, pages, baseUrl, consoleUrl, apiKey })}\n`);
    return;
  }
  process.stdout.write(`
  Pages     ${pages}   (they follow their sources)
  Base URL  ${baseUrl}
  API key   ${apiKey}

Changes in apps/ and libs/ are built and started again. Stop with Ctrl-C.
`);
}

/** `ready` is the line that standalone prints. It rejects if standalone ends first. */
function startRelay(env) {
  const args = [...nodeFlags, join(root, 'dist/apps/standalone/main.js'), '--json'];
  const child = spawn(nodePath(), args, { env, stdio: ['ignore', 'pipe', 'inherit'], detached: true });
  const lift = guard(child.pid);
  const ended = exitOf(child).finally(lift);
  const ready = new Promise((resolve, reject) => {
    createInterface({ input: child.stdout }).once('line', (line) => resolve(JSON.parse(line)));
    void ended.then((code) => reject(new Error(`The relay ended with ${code} before it was ready.`)), reject);
  });
  return {
    ready,
    stop: async () => {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

function build() {
  const { status } = spawnSync(process.execPath, [join(root, 'scripts/build.mjs'), '--programs'], {
    stdio: 'inherit',
  });
  return status === 0;
}

/** Calls `work` after changes to program sources, one call at a time. */
function onChange(work) {
  let timer;
  let running = Promise.resolve();
  for (const folder of ['apps', 'libs']) {
    watch(join(root, folder), { recursive: true }, (_event, name) => {
      if (
        !/\.(ts|sql)$/.test(name ?? '') ||
        name.endsWith('.spec.ts') ||
        `${folder}/${name}`.startsWith('apps/console/')
      )
        return;
      clearTimeout(timer);
      timer = setTimeout(() => (running = running.then(work)), QUIET_MS);
    });
  }
}

function portOf(url) {
  return new URL(url).port;
}
