/** Facts about a piece of work. Never a secret, a prompt, a key, an address or a person: they leave for the collector. */
export type SpanFacts = Readonly<Record<string, string | number | boolean | null | undefined>>;

export interface SpanPlan {
  /** The side of a conversation between programs; `internal` without it. */
  kind?: 'server' | 'client' | 'producer' | 'consumer';
  facts?: SpanFacts;
  /** The `traceparent` of the work that caused this, from a message or row of ours; without it, the work around it. */
  parent?: string | null | undefined;
}

/** A piece of work that is being recorded, or not. */
export interface Span {
  note(facts: SpanFacts): void;
  /** Ended badly. `type`: a code or the name of an error, of which there are few. */
  fail(type: string): void;
}

/** A span that its owner enters and ends. */
export interface OpenSpan extends Span {
  enter<T>(work: () => T): T;
  end(): void;
}

/** What does the recording, while it is on. */
export interface Tracing {
  /** The start of a trace, or of our part of it: a client's call with its `traceparent` header, which may be anything. */
  openRequest(name: string, header: unknown): OpenSpan;
  trace<T>(name: string, plan: SpanPlan, work: (span: Span) => Promise<T>): Promise<T>;
  /** Runs work in no trace. */
  leave<T>(work: () => T): T;
  /** The `traceparent` of the work in progress. */
  current(): string | undefined;
  readonly tellsUpstreams: boolean;
}

/** Of the process, as its work is: programs that share a process share it. */
let tracing: Tracing | undefined;

/** Undefined switches it off. */
export function useTracing(next: Tracing | undefined): void {
  tracing = next;
}

/** Of work that is not recorded. */
export const UNRECORDED: Span = { note: () => undefined, fail: () => undefined };

/** The span of a client's call; undefined while tracing is off. */
export function openRequest(name: string, header: unknown): OpenSpan | undefined {
  return tracing?.openRequest(name, header);
}

/**
 * Does work in a span, which fails with what the work throws. Work that no client's call has caused is not traced, and
 * neither is any while tracing is off.
 */
export function traced<T>(name: string, plan: SpanPlan, work: (span: Span) => Promise<T>): Promise<T> {
  return tracing ? tracing.trace(name, plan, work) : work(UNRECORDED);
}

/** Starts what serves many calls, so that it is not taken for a part of the one that happened to start it. */
export function untraced<T>(work: () => T): T {
  return tracing ? tracing.leave(work) : work();
}

/** The `traceparent` of the work in progress, for a message or a row that continues it. */
export function currentTrace(): string | undefined {
  return tracing?.current();
}

const NO_EXEMPLAR = {};

/** What a measurement says of the work in progress: its trace, where that is recorded. */
export function exemplar(): { trace_id?: string } {
  const traceparent = tracing?.current();
  return traceparent?.endsWith('-01') ? { trace_id: traceparent.split('-')[1]! } : NO_EXEMPLAR;
}

/** What a call of an upstream tells of its trace: nothing, unless the operator wants it. */
export function upstreamTrace(): { traceparent?: string } {
  const traceparent = tracing?.tellsUpstreams ? tracing.current() : undefined;
  return traceparent === undefined ? {} : { traceparent };
}

/** What each line of the log says of its trace. */
export function logFields(): { trace_id?: string; span_id?: string } {
  const [, trace_id, span_id] = tracing?.current()?.split('-') ?? [];
  return trace_id === undefined || span_id === undefined ? {} : { trace_id, span_id };
}
