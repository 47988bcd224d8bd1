import { describe } from 'vitest';
import { brokers } from './brokers.js';
import { itRehearses } from './it-rehearses.js';
import { rehearsals } from './rehearsals.js';

describe('what the programs depend on, taken away under load', () => {
  itRehearses(rehearsals.filter((rehearsal) => !brokers.includes(rehearsal)));
});
