import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * The upstream of the gateway benchmark, in a separate process. It answers every image call at once with the same tiny
 * image, so that only the relay is measured. It reports to its parent where it listens and how many calls it received.
 */
const PICTURE =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const ANSWER = Buffer.from(
  JSON.stringify({ created: 0, data: [{ b64_json: PICTURE, mime_type: 'image/png' }] }),
);
const HEADERS = { 'content-type': 'application/json', 'content-length': ANSWER.length };

let calls = 0;

const server = createServer((request, response) => {
  request.resume();
  request.once('end', () => {
    calls += 1;
    response.writeHead(200, HEADERS);
    response.end(ANSWER);
  });
});
// Never the side that closes: a connection that closes while a call is on its way would count as a failure of the
// relay.
server.keepAliveTimeout = 0;
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));

process.on('message', () => process.send?.({ calls }));
// The parent has ended, so nobody needs answers any more.
process.on('disconnect', () => process.exit(0));
// Ctrl-C in the terminal reaches the whole group. The parent ends its children in order.
process.on('SIGINT', () => undefined);
