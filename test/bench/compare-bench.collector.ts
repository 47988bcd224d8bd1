import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A collector that accepts everything and keeps nothing. */
const server = createServer((request, response) => {
  request.resume().once('end', () => response.setHeader('content-type', 'application/json').end('{}'));
});
server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));
process.on('disconnect', () => process.exit(0));
