import { AsyncLocalStorage } from 'node:async_hooks';
import {
  type Attributes,
  type Context,
  ROOT_CONTEXT,
  type Span as SdkSpan,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Tracer,
} from '@opentelemetry/api';
import { parseTraceParent } from '@opentelemetry/core';
import { RandomIdGenerator } from '@opentelemetry/sdk-trace';
import type { SpanFacts, OpenSpan, SpanPlan, Tracing } from '../tracing.js';

export interface SdkTracingOptions {
  /** The part of calls that is recorded, from 0 to 1. */
  ratio: number;
  clientsDecide: boolean;
  tellsUpstreams: boolean;
}

/**
 * What is in progress: a recorded span, or a call of which nothing is recorded, by its `traceparent`. Most calls are of
 * the second sort and must cost next to nothing, so the SDK has no part in them.
 */
type Work = Context | string;

const KINDS = {
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
};
/** Of the version that is known; a longer one is of a version to come, and is not needed to follow a trace. */
const TRACEPARENT_CHARS = 55;
/** As `openRequest` writes it for a call that is not recorded. */
const UNRECORDED = /^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/;
const ids = new RandomIdGenerator();

/**
 * Tracing by OpenTelemetry's SDK. What is in progress is known by Node's own context. Which calls are recorded is decided
 * here: the tracer records each span that is started.
 */
export class SdkTracing implements Tracing {
  private readonly storage = new AsyncLocalStorage<Work | undefined>();
  readonly tellsUpstreams: boolean;

  constructor(
    private readonly tracer: Tracer,
    private readonly options: SdkTracingOptions,
  ) {
    this.tellsUpstreams = options.tellsUpstreams;
  }

  /** A client may name its trace. `tracestate` is not taken over: it is a stranger's text. */
  openRequest(name: string, header: unknown): OpenSpan {
    const caller = typeof header === 'string' ? parsed(header) : undefined;
    if (!this.isRecorded(caller))
      return this.within(`00-${caller?.traceId ?? ids.generateTraceId()}-${ids.generateSpanId()}-00`);
    const context = caller ? remote(caller) : ROOT_CONTEXT;
    return this.opened(this.tracer.startSpan(name, { kind: SpanKind.SERVER }, context));
  }

  open(name: string, { kind, facts = {}, parent }: SpanPlan): OpenSpan {
    const work = parent ? workOf(parent) : this.storage.getStore();
    // Of a call that is not recorded, no part is: it passes on what the call is known by.
    if (typeof work !== 'object') return this.within(work);
    const options = { kind: kind ? KINDS[kind] : SpanKind.INTERNAL, attributes: attributesOf(facts) };
    return this.opened(this.tracer.startSpan(name, options, work));
  }

  leave<T>(work: () => T): T {
    return this.storage.getStore() === undefined ? work() : this.storage.exit(work);
  }

  current(): string | undefined {
    const work = this.storage.getStore();
    if (typeof work !== 'object') return work;
    const { traceId, spanId } = trace.getSpanContext(work) as SpanContext;
    return `00-${traceId}-${spanId}-01`;
  }

  /** By lot. A decision by the trace's id, as samplers make it, would be the client's, who names it. */
  private isRecorded(caller: SpanContext | undefined): boolean {
    const { ratio, clientsDecide } = this.options;
    return Math.random() < ratio || (clientsDecide && caller !== undefined && isSampled(caller));
  }

  private within(work: string | undefined): OpenSpan {
    const enter = <T>(task: () => T) =>
      this.storage.getStore() === work ? task() : this.storage.run(work, task);
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

/** What a message or a row of ours continues; undefined for what is no `traceparent`. */
function workOf(traceparent: string): Work | undefined {
  if (UNRECORDED.test(traceparent)) return traceparent;
  const parent = parsed(traceparent);
  return parent && isSampled(parent) ? remote(parent) : undefined;
}

function parsed(traceparent: string): SpanContext | undefined {
  return traceparent.length === TRACEPARENT_CHARS ? (parseTraceParent(traceparent) ?? undefined) : undefined;
}

function remote(parent: SpanContext): Context {
  return trace.setSpanContext(ROOT_CONTEXT, { ...parent, isRemote: true });
}

function isSampled({ traceFlags }: SpanContext): boolean {
  return (traceFlags & TraceFlags.SAMPLED) !== 0;
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
