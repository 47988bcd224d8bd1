import { defineConfig } from 'vitest/config';

/** Real databases, brokers and browsers on a busy machine: a limit that only a hang reaches. */
const LIMIT_MS = 900_000;

export default defineConfig({
  test: {
    include: ['{libs,apps,test}/**/*.spec.ts'],
    globalSetup: 'test/support/cluster.setup.mjs',
    testTimeout: LIMIT_MS,
    hookTimeout: LIMIT_MS,
    teardownTimeout: LIMIT_MS,
    pool: 'forks',
    maxWorkers: 2,
    slowTestThreshold: 5_000,
    // The specs of a worker share the modules they import, as the parts of a program do: most of them import all of it.
    isolate: false,
    execArgv: ['--import', './test/support/sources.mjs'],
    experimental: { viteModuleRunner: false, nodeLoader: false },
  },
});
