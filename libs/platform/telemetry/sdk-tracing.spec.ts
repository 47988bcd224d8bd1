import { AlwaysOnSampler, TracerProvider } from '@opentelemetry/sdk-trace';
import { describe, expect, it } from 'vitest';
import { SdkTracing } from './sdk-tracing.js';

const CLIENTS = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

function tracingOf(ratio: number, clientsDecide = false): SdkTracing {
  const tracer = new TracerProvider({ sampler: new AlwaysOnSampler() }).getTracer('test');
  return new SdkTracing(tracer, { ratio, clientsDecide, tellsUpstreams: false });
}

/** What a call, a part of it and the handler of its message know about the trace. */
function parentsOf(tracing: SdkTracing): Promise<(string | undefined)[]> {
  const call = tracing.openRequest('POST /v1/images/generations', undefined);
  return call.enter(async () => {
    const own = tracing.current();
    const inPart = await tracing.trace('hold', { facts: { 'tollgate.charge.id': '1' } }, async (span) => {
      span.note({ more: 1 });
      return tracing.current();
    });
    const inHandler = await tracing.leave(() =>
      tracing.trace('process', { parent: inPart }, async () => tracing.current()),
    );
    expect(tracing.current()).toBe(own);
    return [own, inPart, inHandler];
  });
}

describe('a call', () => {
  it('that is recorded has a span for each part, all in one trace', async () => {
    const parents = await parentsOf(tracingOf(1));
    expect(new Set(parents).size).toBe(3);
    expect(new Set(parents.map((parent) => parent?.split('-')[1])).size).toBe(1);
    expect(parents.every((parent) => parent?.endsWith('-01'))).toBe(true);
  });

  it('that is not recorded has none, but passes its own identity to whatever it causes', async () => {
    const [own, ...parts] = await parentsOf(tracingOf(0));
    expect(own).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/);
    expect(parts).toEqual([own, own]);
  });

  it.each([
    { ratio: 0, clientsDecide: false, flags: '00' },
    { ratio: 1, clientsDecide: false, flags: '01' },
    { ratio: 0, clientsDecide: true, flags: '01' },
  ])('with a trace of its client is part of it, $flags at $ratio, asked: $clientsDecide', (given) => {
    const tracing = tracingOf(given.ratio, given.clientsDecide);
    const call = tracing.openRequest('POST /v1/images/generations', CLIENTS);
    const own = call.enter(() => tracing.current());
    expect(own?.split('-')[1]).toBe(CLIENTS.split('-')[1]);
    expect(own?.split('-')[2]).not.toBe(CLIENTS.split('-')[2]);
    expect(own?.split('-')[3]).toBe(given.flags);
  });
});

describe('a message', () => {
  it.each([
    '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-zz',
    '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00\n',
    'no trace',
  ])('whose trace is %j belongs to none', async (parent) => {
    const tracing = tracingOf(1);
    const call = tracing.openRequest('POST /v1/images/generations', undefined);
    const seen = await call.enter(() =>
      tracing.trace('process', { parent }, async () => tracing.current() ?? 'none'),
    );
    expect(seen).toBe('none');
  });
});
