import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Received {
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
}

/** A server that receives webhooks. */
export interface WebhookReceiver {
  url: string;
  received: Received[];
  /** Requests to a path, oldest first. */
  at(path: string): Received[];
  /** How to answer requests to a path from now on; 204 by default. */
  answer(path: string, respond: (response: ServerResponse, request: Received, count: number) => void): void;
  close(): Promise<void>;
}

export async function startWebhookReceiver(): Promise<WebhookReceiver> {
  const received: Received[] = [];
  const answers = new Map<string, Parameters<WebhookReceiver['answer']>[1]>();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const path = request.url ?? '';
      const one = { path, headers: request.headers, body: Buffer.concat(chunks).toString() };
      received.push(one);
      const respond = answers.get(path);
      if (respond) respond(response, one, received.filter((each) => each.path === path).length);
      else response.writeHead(204).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    at: (path) => received.filter((each) => each.path === path),
    answer: (path, respond) => void answers.set(path, respond),
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
