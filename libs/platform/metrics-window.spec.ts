import { describe, expect, it } from 'vitest';
import { Counter, Gauge, Histogram, Registry } from './metrics.js';
import { MetricsWindow } from './metrics-window.js';

const NAMES = ['calls', 'seconds', 'open'];

function metrics() {
  const registry = new Registry();
  const registers = [registry];
  const help = 'of a test';
  return {
    registry,
    calls: new Counter({ name: 'calls', help, labelNames: ['status', 'route'], registers }),
    seconds: new Histogram({ name: 'seconds', help, labelNames: ['route'], buckets: [0.1, 1], registers }),
    open: new Gauge({ name: 'open', help, labelNames: ['kind'], registers }),
  };
}

describe('a window of metrics', () => {
  it('knows what grew since it began, and the current value of a gauge', async () => {
    const { registry, calls, open } = metrics();
    const window = new MetricsWindow(registry, NAMES);
    calls.inc({ status: '200', route: '/a' }, 5);
    await window.sample();
    calls.inc({ status: '200', route: '/a' }, 2);
    calls.inc({ status: '200', route: '/b' }, 1);
    calls.inc({ status: '503', route: '/b' }, 4);
    open.set({ kind: 'chat' }, 3);
    open.set({ kind: 'speech' }, 1);
    await window.sample();
    expect(window.increase('calls')).toBe(7);
    expect(window.increase('calls', { route: '/b' })).toBe(5);
    expect(window.increaseBy('calls', 'status')).toEqual(new Map([['200', 3], ['503', 4]])); // prettier-ignore
    expect(window.value('calls', { status: '200' })).toBe(8);
    expect(window.valuesBy('open', 'kind').get('chat')).toBe(3);
    expect(window.value('open')).toBe(4);
    expect(window.perSecond('calls')).toBeGreaterThan(0);
    expect(window.increase('unheard-of')).toBe(0);
  });

  it('reads quantiles between the bounds of a histogram', async () => {
    const { registry, seconds } = metrics();
    const window = new MetricsWindow(registry, NAMES);
    seconds.observe({ route: '/a' }, 100);
    await window.sample();
    expect(window.quantileMs('seconds', 0.5)).toBeNull();
    for (let i = 0; i < 50; i += 1) seconds.observe({ route: '/a' }, 0.05);
    for (let i = 0; i < 50; i += 1) seconds.observe({ route: '/b' }, 0.5);
    await window.sample();
    expect(window.quantileMs('seconds', 0.25)).toBe(50);
    expect(window.quantileMs('seconds', 0.5)).toBe(100);
    expect(window.quantileMs('seconds', 0.75)).toBe(550);
    expect(window.quantileMs('seconds', 0.5, { route: '/b' })).toBe(550);
    seconds.observe({ route: '/a' }, 7);
    await window.sample();
    expect(window.quantileMs('seconds', 1)).toBe(1000);
  });

  it('forgets what is older than its length', async () => {
    const { registry, calls } = metrics();
    const window = new MetricsWindow(registry, NAMES, 0);
    await window.sample();
    calls.inc({ status: '200', route: '/a' }, 5);
    await window.sample();
    expect(window.increase('calls')).toBe(5);
    await window.sample();
    expect(window.increase('calls')).toBe(0);
  });
});
