import { join } from 'node:path';
import config from '../../vitest.config.mjs';

/** As specs run, but nothing except what makes the pictures. */
export default {
  ...config,
  root: join(import.meta.dirname, '../..'),
  test: { ...config.test, include: ['test/console/pictures.run.ts'] },
};
