// The accounting programs that check exports: those installed, or else the system's packages.
import { missingPrograms } from './system-packages.mjs';

const PROGRAMS = { hledger: 'hledger', 'bean-check': 'beancount', 'bean-query': 'beancount' };

/** @returns why the programs are missing, or null if they are not */
export function missingAccountingTools(say) {
  return missingPrograms(PROGRAMS, say);
}
