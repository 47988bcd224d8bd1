import type { Environment } from './programs.js';

/** Long enough that, in a short outage, some calls are retried and some refused. */
export const OUTAGE_DURATIONS: Environment = {
  SANDBOX_IMAGE_SECONDS: '0',
  SANDBOX_VIDEO_SECONDS: '0.3',
  BUS_REQUEST_TIMEOUT_SECONDS: '1',
  HOLD_EXPIRES_SECONDS: '3',
  IMAGE_REQUEST_LIMIT_SECONDS: '4',
  VIDEO_CREATE_LIMIT_SECONDS: '1',
  CHARGE_GRACE_SECONDS: '1',
  STUCK_AFTER_SECONDS: '2',
  LEASE_SECONDS: '2',
  TASK_DEADLINE_SECONDS: '60',
  SWEEP_INTERVAL_SECONDS: '0.3',
  OUTBOX_POLL_SECONDS: '0.3',
  POLL_INTERVAL_SECONDS: '0.2',
  POLL_MAX_SECONDS: '0.3',
  SHUTDOWN_GRACE_SECONDS: '5',
};

/** For requests that must not be given up within the gateway, however slow the machine. */
export const UNHURRIED: Environment = {
  DATABASE_CONNECT_SECONDS: '60',
  BUS_REQUEST_TIMEOUT_SECONDS: '60',
  HOLD_EXPIRES_SECONDS: '90',
  VIDEO_CREATE_LIMIT_SECONDS: '90',
  IDEMPOTENCY_LEASE_SECONDS: '60',
};

/** For calls that must not time out, however slow the machine. Their clients wait for a minute. */
export const PATIENCE: Environment = {
  DATABASE_CONNECT_SECONDS: '50',
  BUS_REQUEST_TIMEOUT_SECONDS: '20',
  HOLD_EXPIRES_SECONDS: '50',
  IMAGE_REQUEST_LIMIT_SECONDS: '55',
  VIDEO_CREATE_LIMIT_SECONDS: '55',
};

/** For calls in progress that a program must finish before it stops. */
export const UNTIL_DONE: Environment = { ...PATIENCE, SHUTDOWN_GRACE_SECONDS: '60' };
