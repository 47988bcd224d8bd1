import { expect } from 'vitest';
import { runControls } from '#finance/control-run.js';
import { controls } from '#finance/controls.js';
import { catchUp } from '#finance/periods/catch-up.js';
import { requireCleanLedger } from './ledger.js';
import type { Relay } from './relay.js';

/**
 * Expects every control to find nothing, however recent. The one exception: no test records the costs of its models.
 */
export async function expectGreenControls({ fixture }: Relay): Promise<void> {
  const { billing, log } = fixture;
  await requireCleanLedger(fixture);
  await catchUp(billing, { log });
  const looking = controls.filter(({ id }) => id !== 'costs');
  const { outcomes } = await runControls(billing, { controls: looking, graceMs: 0, limitMs: 180_000 });
  const found = outcomes.flatMap(({ control, result, error }) =>
    result
      ? result.items.map(({ subject, state }) => `${control.id}: ${subject} ${state}`)
      : `${control.id}: ${error}`,
  );
  expect(found).toEqual([]);
}
