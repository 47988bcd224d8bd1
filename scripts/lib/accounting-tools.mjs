// The programs of accountants that check exports: those that are installed, else the system's packages.
import { missingPrograms } from './system-packages.mjs';

const PROGRAMS = { hledger: 'hledger', 'bean-check': 'beancount', 'bean-query': 'beancount' };

/** @returns why the programs are not there, or null when they are */
export function missingAccountingTools(say) {
  return missingPrograms(PROGRAMS, say);
}
