import { paceOf, ProgramReporter } from '#bus/program-reporter.js';
import { groups } from '#bus/topics.js';
import type { ChannelHealth } from '#upstream/health/channel-health.js';
import type { GatewayModuleOptions } from './gateway.options.js';

const REQUESTS = 'gateway_requests_total';
const SECONDS = 'gateway_request_seconds';
const IN_FLIGHT = 'gateway_requests_in_flight';
const HOLDS = 'gateway_holds_total';
const UNDELIVERABLE = 'gateway_undeliverable_resolutions_total';

/** Reports the state of a gateway for the status page. */
export function gatewayReporter(options: GatewayModuleOptions, health: ChannelHealth): ProgramReporter {
  return new ProgramReporter(options, {
    program: 'gateway',
    groups: [groups.gateway],
    intervalMs: options.config.reportMs,
    metrics: [REQUESTS, SECONDS, IN_FLIGHT, HOLDS, UNDELIVERABLE],
    measure: (window) => ({
      /** Answered requests. */
      requests: {
        ...paceOf(window, { counter: REQUESTS, label: 'status', histogram: SECONDS }),
        inFlight: window.value(IN_FLIGHT),
      },
      /** Holds in the last minute by outcome: `held`, the code of a refusal, or `undecided`. */
      holds: Object.fromEntries(window.increaseBy(HOLDS, 'outcome')),
      /** Resolutions that could not be handed over at once, since the start. Should stay 0. */
      undeliverable: window.value(UNDELIVERABLE),
      channels: health.vitalsOfAll(),
    }),
  });
}
