/** What Nest injects that is no class of its own. */
export const CONFIG = Symbol('gateway config');
export const CLOCK = Symbol('clock');
