import { expect, it } from 'vitest';
import { pino } from 'pino';
import { until } from '../../test/support/eventually.js';
import { Loop } from './loop.js';
import { createRegistry } from './metrics.js';

it('shows which background loops fail, and when each last did its work', async () => {
  let isBroken = true;
  const log = pino({ level: 'silent' });
  const round = async () => {
    if (isBroken) throw new Error('broken');
  };
  const registry = createRegistry('spec');
  const value = async (name: string) => {
    const line = new RegExp(`^${name}\\{loop="mending",program="spec"\\} (\\S+)$`, 'm');
    return Number(line.exec(await registry.metrics())?.[1]);
  };
  const beganAt = Date.now() / 1000;
  const loop = new Loop({ name: 'mending', intervalMs: 1, log, round }).start();
  await until('two failures', async () => (await value('tollgate_loop_failures_total')) >= 2);
  const before = await value('tollgate_loop_last_success_timestamp_seconds');
  expect(before).toBeGreaterThanOrEqual(beganAt);

  isBroken = false;
  await until(
    'a success',
    async () => (await value('tollgate_loop_last_success_timestamp_seconds')) > before,
  );
  await loop.stop();
});
