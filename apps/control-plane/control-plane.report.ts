import { ProgramReporter } from '#bus/program-reporter.js';
import { groups } from '#bus/topics.js';
import type { Shared } from './control-plane.tokens.js';

/** Reports how a control plane is, for the page of programs: what every program reports, and nothing else. */
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
