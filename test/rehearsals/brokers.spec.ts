import { describe } from 'vitest';
import { brokers } from './brokers.js';
import { itRehearses } from './it-rehearses.js';

/** In a separate file, so that both run at the same time: it takes a minute until a broker is considered lost. */
describe('brokers taken away under load', () => {
  itRehearses(brokers);
});
