import type { Clock } from '#platform/clock.js';
import type { Loop } from '#platform/loop.js';
import type { Token } from '#platform/wiring.js';
import type { GatewayConfig } from './gateway.config.js';

/** Injection tokens for values that are not classes. */
export const GATEWAY_CONFIG: Token<GatewayConfig> = Symbol('gateway config');
export const GATEWAY_CLOCK: Token<Clock> = Symbol('clock');
/** The loop that tests channels, or null if they are not tested. */
export const CHANNEL_CHECKS: Token<Loop | null> = Symbol('channel checks');
