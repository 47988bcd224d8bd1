import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

interface Target {
  host: string;
  port: number;
  isIn: boolean;
  open: Set<Socket>;
}

/** Forwards connections to several servers in turn, like a load balancer, except to those taken out. */
export class Balancer {
  private next = 0;

  private constructor(
    private readonly server: Server,
    private readonly targets: readonly Target[],
  ) {
    server.on('connection', (client) => this.take(client));
  }

  static async open(urls: readonly string[]): Promise<Balancer> {
    const server = createServer({ noDelay: true }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const targets = urls.map((url): Target => {
      const { hostname, port } = new URL(url);
      return { host: hostname, port: Number(port), isIn: true, open: new Set() };
    });
    return new Balancer(server, targets);
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Resolves when the server has no connections left. Clients with long-lived connections delay this. */
  async takeOut(index: number): Promise<void> {
    const target = this.targets[index]!;
    target.isIn = false;
    await Promise.all([...target.open].map((socket) => once(socket, 'close')));
  }

  putIn(index: number): void {
    this.targets[index]!.isIn = true;
  }

  async close(): Promise<void> {
    for (const { open } of this.targets) for (const socket of open) socket.destroy();
    this.server.close();
    await once(this.server, 'close');
  }

  private take(client: Socket): void {
    const targets = this.targets.filter(({ isIn }) => isIn);
    this.next += 1;
    const target = targets[this.next % targets.length];
    if (!target) return void client.destroy();
    const server = connect({ host: target.host, port: target.port, noDelay: true });
    target.open.add(server);
    server.once('close', () => {
      target.open.delete(server);
      client.destroy();
    });
    client.once('close', () => server.destroy());
    for (const socket of [client, server]) socket.on('error', () => undefined);
    client.pipe(server).pipe(client);
  }
}
