import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * The upstream of the gateway bench, a process of its own: it answers every call for images at once with the same tiny
 * image, so that what is measured is the relay. It tells its parent where it listens, and how many calls it took.
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
// Never the one to close: a connection that ends while a call is on its way to it would be a failure of the relay.
server.keepAliveTimeout = 0;
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));

process.on('message', () => process.send?.({ calls }));
// The parent is gone: there is nobody left to answer for.
process.on('disconnect', () => process.exit(0));
// A Ctrl-C at the terminal reaches the whole group; the parent ends its children in order.
process.on('SIGINT', () => undefined);
