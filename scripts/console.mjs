// `npm run console`: serves the console's pages from their sources, with every change at once, in front of a running
// relay.
import { parseArgs } from 'node:util';
import { prepare, underPinnedNode } from './lib/bootstrap.mjs';
import { servePages } from './lib/pages.mjs';

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
  const server = await servePages({ relay: values.relay, port: Number(values.port) });
  server.printUrls();
}
