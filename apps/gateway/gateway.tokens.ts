/** Injection tokens for values that are not classes. */
export const GATEWAY_CONFIG = Symbol('gateway config');
export const GATEWAY_CLOCK = Symbol('clock');
/** The loop that tests channels, or null if they are not tested. */
export const CHANNEL_CHECKS = Symbol('channel checks');
