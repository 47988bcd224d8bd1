/** What Nest injects that is no class of its own. */
export const GATEWAY_CONFIG = Symbol('gateway config');
export const GATEWAY_CLOCK = Symbol('clock');
