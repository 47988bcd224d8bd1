import type { ConsumerOptions } from '../delivery.js';
import type { BusTransport } from '../transport.js';
import { KafkaClient } from './kafka.client.js';
import { KafkaConnection, type KafkaOptions } from './kafka.connection.js';
import { KafkaServer } from './kafka.server.js';

/** Creates the server and the client of one program, which share its connection to Kafka. */
export class KafkaTransport implements BusTransport {
  readonly connection: KafkaConnection;

  constructor(options: KafkaOptions) {
    this.connection = new KafkaConnection(options);
  }

  server(options: ConsumerOptions): KafkaServer {
    return new KafkaServer(this.connection, options);
  }

  client(options: { asks?: boolean } = {}): KafkaClient {
    return new KafkaClient(this.connection, options.asks ?? false);
  }

  close(): Promise<void> {
    return this.connection.close();
  }
}
