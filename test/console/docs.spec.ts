import { afterAll, beforeAll, expect, it } from '@jest/globals';
