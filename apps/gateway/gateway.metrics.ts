import { Metrics } from '#platform/metrics.js';

/** The metrics of a gateway. Labels are route patterns, codes and channel IDs: never an address, a key or a customer. */
export class GatewayMetrics extends Metrics {
  readonly requests = this.counter('gateway_requests_total', 'Answered requests by route and status', [
    'method',
    'route',
    'status',
  ]);
  readonly requestsInFlight = this.gauge('gateway_requests_in_flight', 'Requests in progress');
  readonly requestSeconds = this.latency(
    'gateway_request_seconds',
    'Time from the arrival of a request to the end of its answer',
    {
      labelNames: ['route'],
      buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120],
    },
  );
  readonly upstreamSeconds = this.latency(
    'gateway_upstream_seconds',
    'Time of upstream calls by channel, operation and outcome',
    {
      labelNames: ['channel', 'operation', 'outcome'],
      buckets: [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120],
    },
  );
  readonly holds = this.counter(
    'gateway_holds_total',
    'Requested holds by outcome: held, the code of the refusal, or undecided if billing did not answer',
    ['outcome'],
  );
  readonly openConversations = this.gauge(
    'gateway_conversations_open',
    'Chats, responses, messages and speech in progress',
    ['kind'],
  );
  readonly exceededHolds = this.counter(
    'gateway_exceeded_holds_total',
    'Answers that used more than was held, at the cost of the operator',
    ['model'],
  );
  readonly undeliverableResolutions = this.counter(
    'gateway_undeliverable_resolutions_total',
    'Resolutions that neither the bus nor the outbox accepted at once; should stay 0',
  );
}
