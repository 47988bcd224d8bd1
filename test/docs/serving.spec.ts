import { afterAll, expect, it } from 'vitest';
import { freePort } from '../support/free-port.js';
import { until } from '../support/eventually.js';
import { ensureBuilt, killLaunched, launch } from '../support/programs.js';

afterAll(() => killLaunched());

it('`npm run docs` serves the pages from their sources, and ends with its server', async () => {
  ensureBuilt();
  const port = await freePort();
  const docs = launch('scripts/docs.mjs', ['--port', String(port)], {});
  // The name, since it may listen on either loopback address.
  const answers = () =>
    fetch(`http://localhost:${port}/docs/`).then(
      ({ ok }) => ok,
      () => false,
    );
  await until('the pages', answers, { state: () => docs.stderr() });
  await docs.end('SIGTERM');
  expect(await answers()).toBe(false);
});
