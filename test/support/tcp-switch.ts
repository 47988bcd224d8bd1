import { once } from 'node:events';
import {
  type AddressInfo,
  connect,
  createServer,
  type NetConnectOpts,
  type Server,
  type Socket,
} from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

/** The socket of the local server in this URL, for a switch to connect to. */
export function socketOf(url: string): { path: string } {
  const { hostname, port } = new URL(url);
  return { path: `${decodeURIComponent(hostname)}/.s.PGSQL.${port}` };
}

/**
 * Sits between programs and a server. It forwards to one address, like a load balancer, and can simulate a bad network.
 */
export class TcpSwitch {
  private readonly connections = new Set<Connection>();
  private isSilent = false;
  private delayMs = 0;
  private isLast: (piece: Buffer) => boolean = () => false;

  private constructor(
    private readonly server: Server,
    private target: NetConnectOpts,
  ) {
    server.on('connection', (client) => this.take(client));
  }

  static async open(target: NetConnectOpts): Promise<TcpSwitch> {
    const server = createServer({ noDelay: true }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new TcpSwitch(server, target);
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  /** A URL with this switch's address instead of its own. */
  urlOf(url: string): string {
    const led = new URL(url);
    led.hostname = '127.0.0.1';
    led.port = String(this.port);
    return led.toString();
  }

  /** Cuts every connection. New ones are forwarded to another address. */
  lead(target: NetConnectOpts): void {
    this.target = target;
    this.cut();
  }

  cut(): void {
    for (const connection of this.connections) connection.cut();
  }

  /** Delays all data in both directions. */
  delay(ms: number): void {
    this.delayMs = ms;
  }

  /** Cuts a connection instead of forwarding data, in any direction, for which this is true. */
  cutAt(isLast: (piece: Buffer) => boolean): void {
    this.isLast = isLast;
  }

  /** From now on, connections are accepted but nothing passes, not even on open ones. Neither end notices. */
  silence(): void {
    this.isSilent = true;
    for (const connection of this.connections) connection.silence();
  }

  /** New connections work again. Silenced ones stay silent, as after a firewall has forgotten them. */
  speak(): void {
    this.isSilent = false;
  }

  async close(): Promise<void> {
    this.cut();
    this.server.close();
    await once(this.server, 'close');
  }

  private take(client: Socket): void {
    const connection = new Connection(client, connect(this.target), {
      delayMs: () => this.delayMs,
      isLast: (piece) => this.isLast(piece),
    });
    this.connections.add(connection);
    client.once('close', () => this.connections.delete(connection));
    if (this.isSilent) connection.silence();
  }
}

class Connection {
  private isSilent = false;

  constructor(
    private readonly client: Socket,
    private readonly server: Socket,
    private readonly faults: { delayMs: () => number; isLast: (piece: Buffer) => boolean },
  ) {
    for (const [from, to] of [
      [client, server],
      [server, client],
    ] as const) {
      from.on('error', () => undefined);
      from.once('close', () => this.isSilent || to.destroy());
      void this.pass(from, to).catch(() => undefined);
    }
    client.once('close', () => server.destroy());
  }

  cut(): void {
    this.client.destroy();
    this.server.destroy();
  }

  silence(): void {
    this.isSilent = true;
  }

  private async pass(from: Socket, to: Socket): Promise<void> {
    for await (const piece of from) {
      if (this.faults.delayMs() > 0) await pause(this.faults.delayMs());
      if (this.faults.isLast(piece as Buffer)) return this.cut();
      if (!this.isSilent) to.write(piece as Buffer);
    }
    if (!this.isSilent) to.end();
  }
}
