import { Pool } from 'undici';
import { setTimeout as pause } from 'node:timers/promises';
import { percentile } from './report.js';

/** An honest customer requests the list of models repeatedly, in a separate process. */
export interface WaitOrder {
  baseUrl: string;
  apiKey: string;
  seconds: number;
}

export interface WaitResult {
  asked: number;
  failed: number;
  p50Ms: number;
  p99Ms: number;
  maxMs: number;
}

const GAP_MS = 10;

process.on('message', (order: WaitOrder) => void measure(order).then((result) => process.send?.(result)));
process.on('disconnect', () => process.exit());

async function measure({ baseUrl, apiKey, seconds }: WaitOrder): Promise<WaitResult> {
  const pool = new Pool(baseUrl, { connections: 2, headersTimeout: 120_000 });
  const headers = { authorization: `Bearer ${apiKey}` };
  const endMs = performance.now() + seconds * 1000;
  const waits: number[] = [];
  let failed = 0;
  while (performance.now() < endMs) {
    const startedMs = performance.now();
    const { statusCode, body } = await pool.request({ path: '/v1/models', method: 'GET', headers });
    await body.dump();
    if (statusCode !== 200) failed += 1;
    waits.push(performance.now() - startedMs);
    await pause(GAP_MS);
  }
  await pool.close();
  const [p50Ms, p99Ms] = [percentile(waits, 0.5), percentile(waits, 0.99)];
  return { asked: waits.length, failed, p50Ms, p99Ms, maxMs: Math.max(...waits) };
}
