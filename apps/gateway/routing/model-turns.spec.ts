import { describe, expect, it } from 'vitest';
import { systemClock } from '#platform/clock.js';
import { ApiError } from '#platform/errors.js';
import { dryRunOf } from './dry-run.js';
import { ModelBusy } from './model-busy.js';
import { ModelTurns } from './model-turns.js';

const busy = () => new ModelBusy('service_unavailable', 'No channel is free.', { retryAfterSeconds: 3 });

function turnsOf(models: string[], rest: { left?: AbortSignal; limitAtMs?: number; named?: number } = {}) {
  const limitAtMs = rest.limitAtMs ?? systemClock.elapsedMs() + 60_000;
  return new ModelTurns({ id: '01J0000000000000000000000A', models, clock: systemClock, ...rest, limitAtMs });
}

async function faultOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => null,
    (error: unknown) => error,
  );
}

describe('the turns of a request through its models', () => {
  it('end with the first that serves', async () => {
    const turns = turnsOf(['a', 'b', 'c']);
    const asked: string[] = [];
    const served = await turns.serve((model) => {
      asked.push(model);
      return model === 'b' ? Promise.resolve(model) : Promise.reject(busy());
    });
    expect({ served, asked }).toEqual({ served: 'b', asked: ['a', 'b'] });
    expect(turns.headersFor('b')).toEqual({
      'x-served-model': 'b',
      'x-failed-models': 'a=service_unavailable',
    });
  });

  it.each(['model_not_found', 'model_not_allowed', 'model_not_supported_here'] as const)(
    'skip a model that answers %s, and say so about a list if none serves',
    async (code) => {
      const fault = await faultOf(turnsOf(['a', 'b']).serve(() => Promise.reject(new ApiError(code, 'No.'))));
      expect(fault).toMatchObject({ code, message: expect.stringContaining('a, b') });
    },
  );

  it('end in a dry run as they would in a request: a busy model is worth a retry', async () => {
    const refuse = (model: string) =>
      Promise.reject(model === 'a' ? new ApiError('model_not_found', 'No.') : busy());
    const fault = await faultOf(dryRunOf(turnsOf(['a', 'b']), refuse));
    expect(fault).toEqual(await faultOf(turnsOf(['a', 'b']).serve(refuse)));
    expect(fault).toMatchObject({ code: 'service_unavailable', retryAfterSeconds: 3 });
  });

  it('repeat no client text that is not a model name', async () => {
    const turns = turnsOf(['\u{1F5BC} \r\n=x', 'b']);
    await turns.serve((model) => (model === 'b' ? Promise.resolve(model) : Promise.reject(busy())));
    expect(turns.headersFor('b')['x-failed-models']).toBe('unknown=service_unavailable');
  });

  it('end at once with an error that is not a model’s fault', async () => {
    const asked: string[] = [];
    const fault = await faultOf(
      turnsOf(['a', 'b']).serve((model) => {
        asked.push(model);
        return Promise.reject(new ApiError('insufficient_user_quota', 'Too little.'));
      }),
    );
    expect(fault).toMatchObject({ code: 'insufficient_user_quota', message: 'Too little.' });
    expect(asked).toEqual(['a']);
  });

  const refusals = ['invalid_value', 'missing_required_parameter', 'insufficient_user_quota'] as const;
  it.each([...refusals, 'key_limit_exceeded', 'account_limit_exceeded'] as const)(
    'continue if a model of the key answers %s: the busy one may still be tried again',
    async (code) => {
      const asked: string[] = [];
      const refuse = (model: string) => {
        asked.push(model);
        return Promise.reject(model === 'a' ? busy() : new ApiError(code, 'No.'));
      };
      const fault = await faultOf(turnsOf(['a', 'b', 'c'], { named: 1 }).serve(refuse));
      expect(fault).toMatchObject({ code: 'service_unavailable', retryAfterSeconds: 3 });
      expect(asked).toEqual(['a', 'b', 'c']);
      expect(await faultOf(dryRunOf(turnsOf(['a', 'b', 'c'], { named: 1 }), refuse))).toEqual(fault);
    },
  );

  it.each(['upstream_rejected', 'generation_failed', 'account_frozen'] as const)(
    'end with %s from a model of the key too',
    async (code) => {
      const asked: string[] = [];
      const refuse = (model: string) => {
        asked.push(model);
        return Promise.reject(model === 'a' ? busy() : new ApiError(code, 'No.'));
      };
      expect(await faultOf(turnsOf(['a', 'b', 'c'], { named: 1 }).serve(refuse))).toMatchObject({ code });
      expect(asked).toEqual(['a', 'b']);
    },
  );

  it('start nothing more for a client that has left', async () => {
    const client = new AbortController();
    const asked: string[] = [];
    const fault = await faultOf(
      turnsOf(['a', 'b'], { left: client.signal }).serve((model) => {
        asked.push(model);
        client.abort();
        return Promise.reject(busy());
      }),
    );
    expect(asked).toEqual(['a']);
    expect(fault).toMatchObject({ code: 'service_unavailable', retryAfterSeconds: 3 });
  });

  it('start nothing more once the request’s time is up', async () => {
    const asked: string[] = [];
    const turns = turnsOf(['a', 'b'], { limitAtMs: systemClock.elapsedMs() });
    await faultOf(
      turns.serve((model) => {
        asked.push(model);
        return Promise.reject(busy());
      }),
    );
    expect(asked).toEqual(['a']);
  });
});
