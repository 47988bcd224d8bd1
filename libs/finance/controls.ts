import type { Control } from './control.js';

/** Every control of the house, in the order in which people read them: one line each. */
export const controls: readonly Control[] = [];
