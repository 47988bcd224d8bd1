import { ParentBasedSampler, TraceIdRatioBasedSampler, TracerProvider } from '@opentelemetry/sdk-trace';
import { describe, expect, it } from 'vitest';
import { SdkTracing } from './sdk-tracing.js';

function tracingOf(ratio: number): SdkTracing {
  const sampler = new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) });
  const tracer = new TracerProvider({ sampler }).getTracer('test');
  return new SdkTracing(tracer, { ratio, clientsDecide: false, tellsUpstreams: false });
}

/** What a call, a part of it and the handler of its message know of the trace. */
function parentsOf(tracing: SdkTracing): (string | undefined)[] {
  const call = tracing.openRequest('POST /v1/images/generations', undefined);
  return call.enter(() => {
    const own = tracing.current();
    const part = tracing.open('hold', { facts: { 'tollgate.charge.id': '1' } });
    const inPart = part.enter(() => tracing.current());
    part.note({ more: 1 });
    part.end();
    const handler = tracing.leave(() => tracing.open('process', { parent: inPart }));
    const inHandler = tracing.leave(() => handler.enter(() => tracing.current()));
    expect(tracing.current()).toBe(own);
    return [own, inPart, inHandler];
  });
}

describe('a call', () => {
  it('that is recorded has a span for each part, all of one trace', () => {
    const parents = parentsOf(tracingOf(1));
    expect(new Set(parents).size).toBe(3);
    expect(new Set(parents.map((parent) => parent?.split('-')[1])).size).toBe(1);
    expect(parents.every((parent) => parent?.endsWith('-01'))).toBe(true);
  });

  it('that is not recorded has none, and is known by its own to whatever it causes', () => {
    const [own, ...parts] = parentsOf(tracingOf(0));
    expect(own).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/);
    expect(parts).toEqual([own, own]);
  });
});
