import { ProgramReporter } from '#bus/program-reporter.js';
import { groups } from '#bus/topics.js';
import type { Shared } from './control-plane.tokens.js';

/** Reports the state of a control plane for the status page: only what every program reports. */
export function controlPlaneReporter(options: Shared): ProgramReporter {
  return new ProgramReporter(options, {
    program: 'control-plane',
    intervalMs: options.config.console.reportMs,
    groups: [groups.controlPlane, groups.notifications],
    metrics: [],
    measure: () => ({}),
  });
}
