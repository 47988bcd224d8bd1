import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { writeFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';

/*
 * Loaded into the relay before its program. Reports on a separate port how late the event loop was since the last
 * request. The file for the port names the process to watch, so that only one of several programs does.
 */
const file = process.env['BENCH_DELAY_FILE'];
if (file && isMainThread && process.argv[1]?.endsWith('standalone/main.js')) {
  const delay = monitorEventLoopDelay({ resolution: 5 });
  delay.enable();
  const server = createServer((_request, response) => {
    const [p99Ms, maxMs] = [delay.percentile(99) / 1e6, delay.max / 1e6];
    delay.reset();
    response.end(JSON.stringify({ p99Ms, maxMs }));
  });
  server.listen(0, '127.0.0.1', () => writeFileSync(file, String((server.address() as AddressInfo).port)));
  server.unref();
}
