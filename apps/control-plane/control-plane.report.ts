import { ProgramReporter } from '#bus/program-reporter.js';
import { groups } from '#bus/topics.js';
import type { Shared } from './control-plane.tokens.js';

/** Reports the state of a control plane for the status page: only what every program reports. */
export function controlPlaneReporter({ pool, registry, log, config }: Shared): ProgramReporter {
  return new ProgramReporter({
    pool,
    registry,
    log,
    program: 'control-plane',
    intervalMs: config.console.reportMs,
    groups: [groups.controlPlane, groups.notifications],
    metrics: [],
    measure: () => ({}),
  });
}
