import type { BusClient } from './bus.client.js';
import type { BusServer } from './bus.server.js';
import type { ConsumerOptions } from './delivery.js';

/** How messages travel: KafkaTransport between programs, InProcessTransport within one. A program's main.ts chooses. */
export interface BusTransport {
  /** The consuming end, for `connectMicroservice({ strategy })`. */
  server(options: ConsumerOptions): BusServer;
  /** The sending end, for a Bus. Without `asks` it can only publish, not send requests. */
  client(options?: { asks?: boolean }): BusClient;
  /** Disconnects, after the servers and clients are closed. */
  close(): Promise<void>;
}
