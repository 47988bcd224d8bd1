// The pages of the console from their sources, with every change at once, before a relay that runs.
import { join } from 'node:path';
import { root } from './clone.mjs';
import { loadVite } from './console-build.mjs';

/**
 * @param {{ relay: string, port: number, quiet?: boolean }} options the console address of the relay, where to serve the
 *   pages, and whether Vite reports faults alone
 * @returns Vite's server, which listens
 */
export async function servePages({ relay, port, quiet = false }) {
  const { createServer } = await loadVite();
  const target = relay.replace(/\/+$/, '');
  // The relay compares the origin of a request with its own address.
  const proxy = { target, changeOrigin: true, headers: { origin: new URL(target).origin } };
  const server = await createServer({
    configFile: join(root, 'apps', 'console', 'vite.config.ts'),
    logLevel: quiet ? 'warn' : 'info',
    server: {
      host: '127.0.0.1',
      port,
      // Sources of the pages lie in a folder api/ too.
      proxy: { '^/api/(?![\\w-]+\\.ts)': proxy, '^/sandbox-pay/': proxy },
    },
  });
  return server.listen();
}
