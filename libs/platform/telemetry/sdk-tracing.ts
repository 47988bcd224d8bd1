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
import {
  type OpenSpan,
  type Span,
  type SpanFacts,
  type SpanPlan,
  type Tracing,
  UNRECORDED,
} from '../tracing.js';

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

  trace<T>(name: string, plan: SpanPlan, work: (span: Span) => Promise<T>): Promise<T> {
    const { kind, facts = {} } = plan;
    const around = this.storage.getStore();
    const cause = 'parent' in plan ? workOf(plan.parent) : around;
    // Of a call that is not recorded, no part is: it passes on what the call is known by.
    if (typeof cause !== 'object')
      return cause === around ? work(UNRECORDED) : this.storage.run(cause, work, UNRECORDED);
    const options = { kind: kind ? KINDS[kind] : SpanKind.INTERNAL, attributes: attributesOf(facts) };
    const span = this.opened(this.tracer.startSpan(name, options, cause));
    return span.enter(() => ending(span, work));
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

  private within(work: string): OpenSpan {
    return { enter: (task) => this.storage.run(work, task), note: nothing, fail: nothing, end: nothing };
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

async function ending<T>(span: OpenSpan, work: (span: Span) => Promise<T>): Promise<T> {
  try {
    return await work(span);
  } catch (error) {
    span.fail(nameOf(error));
    throw error;
  } finally {
    span.end();
  }
}

/** A code where there is one. Never a message: it may quote what a stranger sent. */
function nameOf(error: unknown): string {
  const { code, name } = error as { code?: unknown; name?: unknown };
  return [code, name].find((each) => typeof each === 'string') ?? 'unknown';
}

/** What a message or a row of ours continues; undefined for what is no `traceparent`. */
function workOf(traceparent: string | null | undefined): Work | undefined {
  if (!traceparent) return undefined;
  // Most are of calls that are not recorded. We wrote it, so it needs no closer check.
  if (traceparent.length === TRACEPARENT_CHARS && traceparent.endsWith('-00')) return traceparent;
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
