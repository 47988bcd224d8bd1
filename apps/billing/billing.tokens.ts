/** What Nest injects that is no class of its own. */
export const LOG = Symbol('log');
export const READINESS = Symbol('readiness');
export const LOOPS = Symbol('loops');
