import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

/** A proxy in front of the sandbox: counts requests, and answers 503 while the sandbox is "down". */
export class FaultyUpstream {
  isDown = false;
  /** The shortest time a call takes, in milliseconds. */
  delayMs = 0;
  polls = 0;
  /** Of all calls, in order. */
  readonly paths: string[] = [];
  mostAtOnce = 0;
  private atOnce = 0;

  private constructor(
    private readonly server: Server,
    private readonly target: string,
  ) {}

  static async before(target: string): Promise<FaultyUpstream> {
    const server = createServer();
    const upstream = new FaultyUpstream(server, target);
    server.on('request', (incoming, response) => void upstream.serve(incoming, response));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return upstream;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  private async serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    if (!/\/(content|models)$/.test(incoming.url ?? '')) this.polls += 1;
    this.paths.push(incoming.url ?? '');
    this.atOnce += 1;
    this.mostAtOnce = Math.max(this.mostAtOnce, this.atOnce);
    response.once('close', () => (this.atOnce -= 1));
    const { isDown } = this;
    await pause(this.delayMs);
    if (isDown) {
      response.writeHead(503).end();
      return;
    }
    const onward = request(this.target + incoming.url, {
      method: incoming.method,
      headers: incoming.headers,
    });
    onward.on('response', (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    onward.on('error', () => response.destroy());
    incoming.pipe(onward);
  }
}
