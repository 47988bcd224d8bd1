import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/**
 * The connection between the relay and its upstream in the polling benchmark, as a separate process. It delays traffic
 * like a long distance would, and counts connections. Its parent's first message says where it leads. Each later
 * message requests the counts since the previous one.
 */
export interface WireOrder {
  port: number;
  /** Added to each round trip, half in each direction. */
  latencyMs: number;
}

export interface WireCounts {
  open: number;
  /** How many connections carried anything since the last request. */
  inUse: number;
}

const open = new Set<Socket>();
const used = new Set<Socket>();

/** Passes on data after the delay. Timers of the same length keep their order. */
function lead(from: Socket, to: Socket, { delayMs, onData }: { delayMs: number; onData: () => void }): void {
  const later = (step: () => void): void => void (delayMs > 0 ? setTimeout(step, delayMs) : step());
  from.on('data', (chunk: Buffer) => {
    onData();
    later(() => {
      if (to.destroyed || to.write(chunk)) return;
      from.pause();
      to.once('drain', () => from.resume());
    });
  });
  from.once('end', () => later(() => to.end()));
  from.once('error', () => to.destroy());
  from.once('close', () => later(() => to.end()));
}

function start({ port, latencyMs }: WireOrder): void {
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (near) => {
    const far = connect({ port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
    const way = { delayMs: latencyMs / 2, onData: () => used.add(near) };
    lead(near, far, way);
    lead(far, near, way);
    open.add(near);
    near.once('close', () => open.delete(near));
  });
  server.listen(0, '127.0.0.1', () => process.send?.({ port: (server.address() as AddressInfo).port }));
}

process.once('message', (order: WireOrder) => {
  start(order);
  process.on('message', () => {
    const counts: WireCounts = { open: open.size, inUse: used.size };
    used.clear();
    process.send?.(counts);
  });
});

// The parent has ended, so nobody needs answers any more.
process.on('disconnect', () => process.exit(0));
// Ctrl-C in the terminal reaches the whole group. The parent ends its children in order.
process.on('SIGINT', () => undefined);
