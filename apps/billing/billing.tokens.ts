import type { Logger } from '#platform/logging.js';
import type { Token } from '#platform/wiring.js';

/** What Nest injects that is no class of its own. */
export const LOG: Token<Logger> = Symbol('log');
