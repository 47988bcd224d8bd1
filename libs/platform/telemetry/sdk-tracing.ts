import { AsyncLocalStorage } from 'node:async_hooks';
import {
  type Attributes,
  type Context,
  isSpanContextValid,
  ROOT_CONTEXT,
  type Span as SdkSpan,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Tracer,
} from '@opentelemetry/api';
import { parseTraceParent } from '@opentelemetry/core';
import type { SpanFacts, OpenSpan, SpanPlan, Tracing } from '../tracing.js';

export interface SdkTracingOptions {
  ratio: number;
  clientsDecide: boolean;
  tellsUpstreams: boolean;
}

const KINDS = {
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
};
/** Of the version that is known; a longer one is of a version to come, and is not needed to follow a trace. */
const TRACEPARENT_CHARS = 55;

/** Tracing by OpenTelemetry's SDK. What is in progress is known by Node's own context. */
export class SdkTracing implements Tracing {
  private readonly storage = new AsyncLocalStorage<Context>();
  readonly tellsUpstreams: boolean;

  constructor(
    private readonly tracer: Tracer,
    private readonly options: SdkTracingOptions,
  ) {
    this.tellsUpstreams = options.tellsUpstreams;
  }

  openRequest(name: string, header: unknown): OpenSpan {
    return this.opened(this.tracer.startSpan(name, { kind: SpanKind.SERVER }, this.clientContext(header)));
  }

  open(name: string, { kind, facts = {}, parent }: SpanPlan): OpenSpan {
    const context = (parent ? contextOf(parent) : this.storage.getStore()) ?? ROOT_CONTEXT;
    // Of a call that is not recorded, no part is: it passes on what the call is known by.
    if (isLeftOut(context)) return this.within(context);
    const options = { kind: kind ? KINDS[kind] : SpanKind.INTERNAL, attributes: attributesOf(facts) };
    return this.opened(this.tracer.startSpan(name, options, context));
  }

  leave<T>(work: () => T): T {
    return this.storage.getStore() === undefined ? work() : this.storage.exit(work);
  }

  current(): string | undefined {
    const span = this.active();
    if (!span) return undefined;
    const { traceId, spanId, traceFlags } = span.spanContext();
    return `00-${traceId}-${spanId}-0${traceFlags & TraceFlags.SAMPLED}`;
  }

  logFields(): { trace_id: string; span_id: string } | undefined {
    const span = this.active();
    if (!span) return undefined;
    const { traceId, spanId } = span.spanContext();
    return { trace_id: traceId, span_id: spanId };
  }

  private active(): SdkSpan | undefined {
    const context = this.storage.getStore();
    return context && trace.getSpan(context);
  }

  /**
   * A client names its trace; whether it is recorded is our decision, by lot: a decision by its id, as samplers make it,
   * would be the client's as well. `tracestate` is not taken over: it is a stranger's text.
   */
  private clientContext(header: unknown): Context {
    const context = typeof header === 'string' ? contextOf(header) : undefined;
    const parent = context && trace.getSpanContext(context);
    if (!parent) return ROOT_CONTEXT;
    const { ratio, clientsDecide } = this.options;
    const isAsked = clientsDecide && (parent.traceFlags & TraceFlags.SAMPLED) !== 0;
    const traceFlags = isAsked || Math.random() < ratio ? TraceFlags.SAMPLED : TraceFlags.NONE;
    return trace.setSpanContext(ROOT_CONTEXT, { ...parent, traceFlags });
  }

  private within(context: Context): OpenSpan {
    const enter = <T>(work: () => T) =>
      this.storage.getStore() === context ? work() : this.storage.run(context, work);
    return { enter, note: nothing, fail: nothing, end: nothing };
  }

  private opened(span: SdkSpan): OpenSpan {
    const context = trace.setSpan(ROOT_CONTEXT, span);
    return {
      enter: (work) => this.storage.run(context, work),
      note: (facts) => void span.setAttributes(attributesOf(facts)),
      fail: (type) => {
        span.setAttribute('error.type', type);
        span.setStatus({ code: SpanStatusCode.ERROR });
      },
      end: () => span.end(),
    };
  }
}

/** Undefined for what is no `traceparent` of the version that is known. */
function contextOf(traceparent: string): Context | undefined {
  if (traceparent.length !== TRACEPARENT_CHARS) return undefined;
  const parent = parseTraceParent(traceparent);
  if (!parent || !isSpanContextValid(parent)) return undefined;
  return trace.setSpanContext(ROOT_CONTEXT, { ...parent, isRemote: true });
}

function isLeftOut(context: Context): boolean {
  const parent = trace.getSpanContext(context);
  return parent !== undefined && (parent.traceFlags & TraceFlags.SAMPLED) === 0;
}

function nothing(): void {}

/** Some ten times for each call, so without lists in between. */
function attributesOf(facts: SpanFacts): Attributes {
  const attributes: Attributes = {};
  for (const name in facts) {
    const value = facts[name];
    if (value != null) attributes[name] = value;
  }
  return attributes;
}
