import type pg from 'pg';
import { DataSource } from 'typeorm';
import { ApprovalService } from '#approvals/approval.service.js';
import { OutboxRelay } from '#bus/outbox.js';
import type { Clock } from '#platform/clock.js';
import type { ReadinessChecks } from '#platform/health.js';
import type { Logger } from '#platform/logging.js';
import type { Registry } from '#platform/metrics.js';
import type { Token, TokensOf } from '#platform/wiring.js';
import type { ControlPlaneConfig } from './control-plane.config.js';

/** Injection tokens for values that are not classes. */
export const LOG: Token<Logger> = Symbol('log');
export const READINESS: Token<ReadinessChecks> = Symbol('readiness');
/** Connections under billing's own database role. */
export const POOL: Token<pg.Pool> = Symbol('pool');
export const CONTROL_PLANE_CONFIG: Token<ControlPlaneConfig> = Symbol('config');
export const CONTROL_PLANE_CLOCK: Token<Clock> = Symbol('clock');
export const REGISTRY: Token<Registry> = Symbol('registry');
/** A function, because the port may not be known yet: the address of the gateways for clients. */
export const BASE_URL: Token<() => string> = Symbol('base url');
/** Likewise: where billing itself reaches a gateway. */
export const GATEWAY_URL: Token<() => string> = Symbol('gateway url');

/** What most services and background jobs take. */
export interface Shared {
  readonly pool: pg.Pool;
  readonly source: DataSource;
  readonly config: ControlPlaneConfig;
  readonly log: Logger;
  readonly clock: Clock;
  readonly registry: Registry;
  readonly relay: OutboxRelay;
}

export const SHARED: TokensOf<Shared> = {
  pool: POOL,
  source: DataSource,
  config: CONTROL_PLANE_CONFIG,
  log: LOG,
  clock: CONTROL_PLANE_CLOCK,
  registry: REGISTRY,
  relay: OutboxRelay,
};

/** The same, for services whose changes may need the approval of a second person. */
export const SHARED_WITH_APPROVALS = { ...SHARED, approvals: ApprovalService };
