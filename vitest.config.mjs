import { BaseSequencer } from 'vitest/node';
import { defineConfig } from 'vitest/config';

/** For real databases, brokers and browsers on a busy machine. Only a hang takes this long. */
const LIMIT_MS = 1_800_000;

/** Specs that take half a minute or more. They start first, so that no core is idle at the end. */
const LONGEST = [
  'fuzz-',
  'states.',
  'house/bench.',
  'journeys/standalone.',
  'journeys/faults.',
  'journeys/outages.',
  'journeys/chaos.',
  'journeys/package.',
  'journeys/traces.',
  'backup.',
  'console/staff.',
  'crash/standalone.',
  'crash/soak.',
  'kafka/distributed.',
  'rehearsals/rehearsals.',
  'rehearsals/brokers.',
  'docs/examples.',
];

class LongestFirst extends BaseSequencer {
  async sort(files) {
    const isLong = ({ moduleId }) => LONGEST.some((name) => moduleId.includes(name));
    const sorted = await super.sort(files);
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}

export default defineConfig({
  test: {
    include: ['{libs,apps,test}/**/*.spec.ts'],
    globalSetup: 'test/support/cluster.setup.mjs',
    setupFiles: 'test/support/sources.setup.mjs',
    testTimeout: LIMIT_MS,
    hookTimeout: LIMIT_MS,
    teardownTimeout: LIMIT_MS,
    expect: { poll: { timeout: 90_000 } },
    sequence: { sequencer: LongestFirst },
    pool: 'forks',
    maxWorkers: 2,
    slowTestThreshold: 5_000,
    // Specs in one worker share their modules, since most import the whole program.
    isolate: false,
    // Like the programs: most new objects are soon garbage, and larger scavenges copy fewer of them.
    execArgv: ['--max-semi-space-size=64', '--import', './test/support/sources.mjs'],
    experimental: { viteModuleRunner: false, nodeLoader: false },
  },
});
