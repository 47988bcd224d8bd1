/** What Nest injects that is no class of its own. */
export const GATEWAY_CONFIG = Symbol('gateway config');
export const GATEWAY_CLOCK = Symbol('clock');
/** The loop that tests channels; null where they are not tested. */
export const CHANNEL_CHECKS = Symbol('channel checks');
