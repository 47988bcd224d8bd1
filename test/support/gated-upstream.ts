import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import type { LedgerFixture } from './ledger.js';

/** The calls that ask how a task is doing, or fetch what it made. */
export const POLLS = /^GET /;
const NOTHING = /$^/;

/** What waits: a call before it reaches the upstream, or its answer after each event. */
type Part = 'call' | 'answer';

/**
 * A proxy in front of an upstream, at which calls wait until a test lets them pass. So what must happen while a call is
 * in progress happens then, however slow the machine is.
 */
export class GatedUpstream {
  /** How many calls or answers wait. */
  waiting = 0;
  private held = NOTHING;
  private part: Part = 'call';
  private opened = Promise.withResolvers<void>();

  private constructor(
    private readonly server: Server,
    private readonly target: string,
  ) {
    server.on('request', (incoming, response) => {
      void this.serve(incoming, response).catch(() => response.destroy());
    });
  }

  /** Leads the channels of a sandbox through a gate, which is open. Catalogs that were read before do not know it. */
  static async before(sandboxUrl: string, { owner }: Pick<LedgerFixture, 'owner'>): Promise<GatedUpstream> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    await owner.query('UPDATE channels SET base_url = replace(base_url, $1, $2)', [sandboxUrl, url]);
    return new GatedUpstream(server, sandboxUrl);
  }

  /** From now on, calls wait whose method, path and body match. */
  shut(calls: RegExp, part: Part = 'call'): void {
    this.held = calls;
    this.part = part;
    this.step();
  }

  /** Lets what waits go on, an answer to its next event. */
  step(): void {
    this.opened.resolve();
    this.opened = Promise.withResolvers<void>();
  }

  open(): void {
    this.held = NOTHING;
    this.opened.resolve();
  }

  async close(): Promise<void> {
    this.open();
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, 'close');
  }

  private async serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method, url, headers } = incoming;
    const closed = new Promise<void>((resolve) => response.once('close', resolve));
    const body = await buffer(incoming);
    const waits = this.held.test(`${method} ${url}\n${body.toString('latin1')}`) ? this.part : null;
    if (waits === 'call') await this.wait(closed);
    if (response.destroyed) return;
    const onward = request(this.target + url, { method, headers });
    void closed.then(() => onward.destroy());
    // Also when nothing waits for it any more.
    onward.on('error', () => response.destroy());
    const answered = once(onward, 'response') as Promise<[IncomingMessage]>;
    onward.end(body);
    const [answer] = await answered;
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    for await (const piece of answer as AsyncIterable<Buffer>) {
      for (const event of waits === 'answer' ? eventsOf(piece) : [piece]) {
        response.write(event);
        if (waits === 'answer') await this.wait(closed);
      }
    }
    response.end();
  }

  private async wait(closed: Promise<void>): Promise<void> {
    this.waiting += 1;
    await Promise.race([this.opened.promise, closed]);
    this.waiting -= 1;
  }
}

/** Events that were sent one by one may arrive together. */
function eventsOf(piece: Buffer): Buffer[] {
  return piece
    .toString('latin1')
    .split(/(?<=\n\n)/)
    .map((event) => Buffer.from(event, 'latin1'));
}
