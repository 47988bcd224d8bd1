// The console's pages from their sources, with every change at once, in front of a running relay.
import { join } from 'node:path';
import { root } from './clone.mjs';
import { loadVite } from './console-build.mjs';

/**
 * @param {{ relay: string, port: number, quiet?: boolean }} options the relay's console address, where to serve the
 *   pages, and whether Vite reports only errors
 * @returns Vite's server, which is listening
 */
export async function servePages({ relay, port, quiet = false }) {
  const { createServer } = await loadVite();
  const target = relay.replace(/\/+$/, '');
  // The relay compares a request's origin with its own address.
  const proxy = { target, changeOrigin: true, headers: { origin: new URL(target).origin } };
  const server = await createServer({
    configFile: join(root, 'apps', 'console', 'vite.config.ts'),
    logLevel: quiet ? 'warn' : 'info',
    server: {
      host: '127.0.0.1',
      port,
      // The pages have a source folder named api/ too.
      proxy: { '^/api/(?![\\w-]+\\.ts)': proxy, '^/sandbox-pay/': proxy },
    },
  });
  return server.listen();
}
