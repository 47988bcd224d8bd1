/** What Nest injects that is no class of its own. */
export const LOG = Symbol('log');
export const READINESS = Symbol('readiness');
export const LOOPS = Symbol('loops');
/** Connections under billing's own database role. */
export const POOL = Symbol('pool');
export const CONFIG = Symbol('config');
export const CLOCK = Symbol('clock');
export const REGISTRY = Symbol('registry');
/** Asked, since where it listens may not be known yet: the address of the gateways for clients. */
export const BASE_URL = Symbol('base url');
/** Likewise: where billing itself reaches a gateway. */
export const GATEWAY_URL = Symbol('gateway url');
