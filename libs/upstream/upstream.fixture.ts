import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Channel } from '#catalog/catalog.js';

/** A stand-in upstream over real HTTP, for specs. It answers as its handler says, and records the requests. */
export interface StubUpstream {
  url: string;
  requests: { method: string; path: string; headers: IncomingMessage['headers']; body: string }[];
  close(): Promise<void>;
}

export type StubHandler = (request: IncomingMessage, response: ServerResponse) => void;

export async function startStub(handler: StubHandler): Promise<StubUpstream> {
  const requests: StubUpstream['requests'] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      requests.push({ method, path: url, headers, body: Buffer.concat(chunks).toString() });
      handler(request, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

export function json(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(typeof body === 'string' ? body : JSON.stringify(body));
}

export function channelTo(baseUrl: string, overrides: Partial<Channel> = {}): Channel {
  return {
    id: 'test',
    protocol: 'openai-xai',
    baseUrl,
    apiKey: 'upstream-key',
    apiKeys: ['upstream-key'],
    webhookSecret: null,
    enabled: true,
    priority: 0,
    weight: 1,
    requestTimeoutMs: 60_000,
    allowPrivateAddress: true,
    honoursIdempotency: false,
    maxConcurrency: null,
    models: new Map(),
    costs: new Map(),
    groups: new Set(),
    ...overrides,
  };
}
