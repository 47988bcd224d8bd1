import { Counter, Gauge, LatencyHistogram, type Registry } from '#platform/metrics.js';

const REQUESTS = {
  name: 'gateway_requests_total',
  help: 'Answered requests by route and status',
  labelNames: ['method', 'route', 'status'],
};
const REQUESTS_IN_FLIGHT = {
  name: 'gateway_requests_in_flight',
  help: 'Requests in progress',
};
const REQUEST_SECONDS = {
  name: 'gateway_request_seconds',
  help: 'Time from the arrival of a request to the end of its answer',
  labelNames: ['route'],
  buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120],
};
const UPSTREAM_SECONDS = {
  name: 'gateway_upstream_seconds',
  help: 'Time of upstream calls by channel, operation and outcome',
  labelNames: ['channel', 'operation', 'outcome'],
  buckets: [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120],
};
const HOLDS = {
  name: 'gateway_holds_total',
  help: 'Requested holds by outcome: held, the code of the refusal, or undecided if billing did not answer',
  labelNames: ['outcome'],
};
const OPEN_CONVERSATIONS = {
  name: 'gateway_conversations_open',
  help: 'Chats, responses, messages and speech in progress',
  labelNames: ['kind'],
};
const EXCEEDED_HOLDS = {
  name: 'gateway_exceeded_holds_total',
  help: 'Answers that used more than was held, at the cost of the operator',
  labelNames: ['model'],
};
const UNDELIVERABLE_RESOLUTIONS = {
  name: 'gateway_undeliverable_resolutions_total',
  help: 'Resolutions that neither the bus nor the outbox accepted at once; should stay 0',
};

/** The metrics of a gateway. Labels are route patterns, codes and channel IDs: never an address, a key or a customer. */
export class GatewayMetrics {
  readonly requests: Counter;
  readonly requestsInFlight: Gauge;
  readonly requestSeconds: LatencyHistogram;
  readonly upstreamSeconds: LatencyHistogram;
  readonly holds: Counter;
  readonly openConversations: Gauge;
  readonly exceededHolds: Counter;
  readonly undeliverableResolutions: Counter;

  constructor(registry: Registry) {
    const registers = [registry];
    this.requests = new Counter({ ...REQUESTS, registers });
    this.requestsInFlight = new Gauge({ ...REQUESTS_IN_FLIGHT, registers });
    this.requestSeconds = new LatencyHistogram({ ...REQUEST_SECONDS, registers });
    this.upstreamSeconds = new LatencyHistogram({ ...UPSTREAM_SECONDS, registers });
    this.holds = new Counter({ ...HOLDS, registers });
    this.openConversations = new Gauge({ ...OPEN_CONVERSATIONS, registers });
    this.exceededHolds = new Counter({ ...EXCEEDED_HOLDS, registers });
    this.undeliverableResolutions = new Counter({ ...UNDELIVERABLE_RESOLUTIONS, registers });
  }
}
