import { join } from 'node:path';
import { mergeConfig } from 'vitest/config';
import specs from '../../vitest.config.mjs';

/** As specs run, but nothing except what makes the pictures. */
const config = mergeConfig(specs, { root: join(import.meta.dirname, '../..') });
config.test.include = ['test/console/pictures.run.ts'];
export default config;
