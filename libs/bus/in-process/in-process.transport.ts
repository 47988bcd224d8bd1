import type { ConsumerOptions } from '../delivery.js';
import type { BusTransport } from '../transport.js';
import { InProcessBroker, type InProcessOptions } from './in-process.broker.js';
import { InProcessClient } from './in-process.client.js';
import { InProcessServer } from './in-process.server.js';

/** Creates the servers and clients of all programs of one process, which share its broker. */
export class InProcessTransport implements BusTransport {
  private readonly broker: InProcessBroker;

  constructor(options: InProcessOptions) {
    this.broker = new InProcessBroker(options);
  }

  server(options: ConsumerOptions): InProcessServer {
    return new InProcessServer(this.broker, options);
  }

  client(): InProcessClient {
    return new InProcessClient(this.broker);
  }

  close(): Promise<void> {
    return this.broker.close();
  }
}
