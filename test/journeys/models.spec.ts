import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { type Customer, type Relay, startRelay } from '../support/relay.js';

describe('the model list, by the OpenAI SDK', () => {
  let relay: Relay;
  let customer: Customer;

  beforeAll(async () => {
    relay = await startRelay();
    customer = await relay.customer('1');
  });
  afterAll(() => relay.close());

  it("shows the models of the key's group and nothing else about them", async () => {
    const { data } = await customer.sdk().models.list();
    expect(data.map(({ id }) => id)).toEqual([
      'chatmodel-2',
      'imgmodel-4',
      'vendora-3d',
      'vendora-chat',
      'vendora-imagine-edit',
      'vendora-imagine-image',
      'vendora-imagine-video',
      'vendora-imagine-video-1.5',
      'vendora-imagine-video-1.5-preview',
      'vendora-messages',
      'vendora-speech',
      'vidmodel-3',
    ]);
    for (const entry of data)
      expect(Object.keys(entry).sort()).toEqual(['created', 'id', 'object', 'owned_by']);

    const other = await relay.customer('1', 'Public-Relay');
    expect((await other.sdk().models.list()).data.map(({ id }) => id)).toEqual([
      'imgmodel-lite',
      'vendora-chat-lite',
    ]);
  });

  it('retrieves one model, and hides those of another group', async () => {
    const model = await customer.sdk().models.retrieve('vendora-imagine-video-1.5');
    expect(model).toMatchObject({ id: 'vendora-imagine-video-1.5', object: 'model', owned_by: 'vendora' });
    const refusal = await customer
      .sdk()
      .models.retrieve('imgmodel-lite')
      .catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(OpenAI.NotFoundError);
    expect(refusal).toMatchObject({
      code: 'model_not_found',
      requestID: expect.stringMatching(/^[0-9a-z]{26}$/),
    });
  });

  it('uses the format of Anthropic’s SDK with its version header, errors included', async () => {
    const sdk = new Anthropic({ apiKey: customer.apiKey, baseURL: relay.baseUrl, maxRetries: 0 });
    const ids: string[] = [];
    for await (const model of sdk.models.list()) ids.push(model.id);
    expect(ids).toEqual((await customer.sdk().models.list()).data.map(({ id }) => id));
    expect(await sdk.models.retrieve('vendora-messages')).toEqual({
      type: 'model',
      id: 'vendora-messages',
      display_name: 'vendora-messages',
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
    });
    const refusal: unknown = await sdk.models.retrieve('imgmodel-lite').catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(Anthropic.NotFoundError);
    expect(refusal).toMatchObject({ error: { type: 'error', error: { type: 'not_found_error' } } });

    const wrongBase = new Anthropic({
      apiKey: customer.apiKey,
      baseURL: `${relay.baseUrl}/v1`,
      maxRetries: 0,
    });
    const lost: unknown = await wrongBase.models.retrieve('x').catch((error: unknown) => error);
    expect(lost).toBeInstanceOf(Anthropic.NotFoundError);
    expect(lost).toMatchObject({ message: expect.stringContaining('one /v1 too many') });
  });

  it('accepts the key in any case of the scheme', async () => {
    const lower = await fetch(`${relay.baseUrl}/v1/models`, {
      headers: { authorization: `bearer ${customer.apiKey}` },
    });
    expect(lower.status).toBe(200);
    for (const authorization of [
      undefined,
      'Bearer nonsense',
      `Bearer sk-tg-${'A'.repeat(43)}`,
      'Basic dTpw',
      '',
    ]) {
      const headers: Record<string, string> = authorization === undefined ? {} : { authorization };
      const response = await fetch(`${relay.baseUrl}/v1/models`, { headers });
      expect(response.status).toBe(401);
      expect(await response.json()).toMatchObject({
        error: { code: 'invalid_api_key', type: 'invalid_request_error' },
      });
    }
  });
});
