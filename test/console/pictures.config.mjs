import { join } from 'node:path';
import config from '../../vitest.config.mjs';

/** Runs like the specs, but only what takes the screenshots. */
export default {
  ...config,
  root: join(import.meta.dirname, '../..'),
  test: { ...config.test, include: ['test/console/pictures.run.ts'] },
};
