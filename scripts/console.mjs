// `npm run console`: the pages of the console from their sources, with every change at once, before a relay that runs.
import { parseArgs } from 'node:util';
import { join } from 'node:path';
import { prepare, root, underPinnedNode } from './lib/bootstrap.mjs';

const HELP = `Serves the console's pages from their sources, for working on them.

Usage: npm run console -- [--relay URL] [--port PORT] [--help]

  --relay URL   the console address of a relay that runs (http://127.0.0.1:8788, where npm start serves it)
  --port PORT   where to serve the pages (5173)
`;

const { values } = parseArgs({
  options: {
    relay: { type: 'string', default: 'http://127.0.0.1:8788' },
    port: { type: 'string', default: '5173' },
    help: { type: 'boolean', short: 'h', default: false },
  },
});

if (values.help) {
  process.stdout.write(HELP);
} else {
  await prepare({ build: false });
  await underPinnedNode();
  const { createServer } = await import('vite');
  const target = values.relay.replace(/\/+$/, '');
  // The relay compares the origin of a request with its own address.
  const proxy = { target, changeOrigin: true, headers: { origin: new URL(target).origin } };
  const server = await createServer({
    configFile: join(root, 'apps', 'console', 'vite.config.ts'),
    server: {
      host: '127.0.0.1',
      port: Number(values.port),
      // Sources of the pages lie in a folder api/ too.
      proxy: { '^/api/(?!\\w+\\.ts)': proxy, '^/sandbox-pay/': proxy },
    },
  });
  await server.listen();
  server.printUrls();
}
