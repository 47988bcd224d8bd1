import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** Says what was asked of it, one line each. The broker of the compose file has an id if somebody runs it. */
const DOCKER = `#!/bin/sh
echo "$*" >>"$DOCKER_ASKED"
case " $* " in
  *' ps '*) echo "$DOCKER_RUNNING" ;;
  *' port '*) echo 127.0.0.1:19094 ;;
esac
`;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tollgate-docker-'));
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
});

it.each([
  ['stops the broker of the compose file that it started', '', true],
  ['leaves a broker alone that somebody runs', '0123456789ab', false],
])('%s', async (_, running, isStopped) => {
  const asked = join(folder, 'asked');
  writeFileSync(join(folder, 'docker'), DOCKER, { mode: 0o755 });
  const env = {
    PATH: folder,
    JAVA_HOME: join(folder, 'no-java'),
    DOCKER_ASKED: asked,
    DOCKER_RUNNING: running,
  };
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
  const script = join(import.meta.dirname, '../../scripts/lib/kafka-broker.mjs');
  const { startKafka } = (await import(pathToFileURL(script).href)) as {
    startKafka: (options: object) => Promise<{ brokers: string[]; stop(): Promise<void> }>;
  };
  const broker = await startKafka({ env: {} });
  expect(broker.brokers).toEqual(['127.0.0.1:19094']);
  await broker.stop();
  expect(/ rm .*kafka$/m.test(readFileSync(asked, 'utf8'))).toBe(isStopped);
});
