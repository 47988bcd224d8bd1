import { createRequire } from 'node:module';

interface RequestQueue {
  pending: unknown[];
  scheduleCheckPendingRequests(): void;
}

const require = createRequire(import.meta.url);
let patched = false;

/**
 * kafkajs 2.2.4 keeps a timer turning for every connection even when no request waits: two thousand a second on an idle
 * program. A check is only of use while something is pending.
 */
export function quietenRequestQueue(): void {
  if (patched) return;
  patched = true;
  const { prototype } = require('kafkajs/src/network/requestQueue') as { prototype: RequestQueue };
  const schedule: unknown = Reflect.get(prototype, 'scheduleCheckPendingRequests');
  prototype.scheduleCheckPendingRequests = function (this: RequestQueue) {
    if (this.pending.length > 0) Reflect.apply(schedule as () => void, this, []);
  };
}
