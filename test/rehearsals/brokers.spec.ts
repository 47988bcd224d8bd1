import { describe } from 'vitest';
import { brokers } from './brokers.js';
import { itRehearses } from './it-rehearses.js';

/** Apart from the others, so that both run at the same time: a broker takes a minute to be given up. */
describe('brokers taken away under load', () => {
  itRehearses(brokers);
});
