import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import Anthropic from '@anthropic-ai/sdk';
import { closeClean, type Customer, type Relay, startRelay } from '../support/relay.js';

const MODEL = 'vendora-messages';
const messages = [{ role: 'user' as const, content: 'how long is this message to a lighthouse?' }];

describe("a token count, by Anthropic's SDK", () => {
  let relay: Relay;

  beforeAll(async () => {
    relay = await startRelay();
  });
  afterAll(() => closeClean(relay));

  const sdkOf = ({ apiKey }: Customer) => new Anthropic({ apiKey, baseURL: relay.baseUrl, maxRetries: 0 });
  const refusalOf = (asked: Promise<unknown>) => asked.catch((error: unknown) => error);

  it('is what the message is charged for, and is free itself', async () => {
    const customer = await relay.customer('1');
    const sdk = sdkOf(customer);
    const asked = { model: MODEL, system: 'Be brief.', messages };
    const { input_tokens: counted } = await sdk.messages.countTokens(asked);
    expect(await customer.balance()).toEqual({ main: '1', held: '0' });
    const { usage } = await sdk.messages.create({ ...asked, max_tokens: 50 });
    expect(usage.input_tokens).toBe(counted);
    expect(counted).toBeGreaterThan(0);
  });

  it('is available to a key without credits', async () => {
    const poor = await relay.customer('0');
    expect((await sdkOf(poor).messages.countTokens({ model: MODEL, messages })).input_tokens).toBeGreaterThan(
      0,
    );
  });

  it('ignores fields about the answer, and rejects fields that the message must not have', async () => {
    const sdk = sdkOf(await relay.customer('1'));
    const more = { max_tokens: 10, stream: true };
    expect(
      (await sdk.messages.countTokens({ model: MODEL, messages, ...more })).input_tokens,
    ).toBeGreaterThan(0);
    for (const [param, fault] of Object.entries({
      mcp_servers: { messages, mcp_servers: [] },
      messages: { messages: [] },
    })) {
      const refusal = await refusalOf(sdk.messages.countTokens({ model: MODEL, ...fault }));
      expect(refusal).toBeInstanceOf(Anthropic.BadRequestError);
      expect(refusal).toMatchObject({ error: { error: { details: { param } } } });
    }
  });

  it('is refused for a model that the key may not use, and for one without counting', async () => {
    const customer = await relay.customer('1');
    const count = (model: string) => refusalOf(sdkOf(customer).messages.countTokens({ model, messages }));
    expect(await count('vendora-chat')).toMatchObject({ status: 404 });
    expect(await count('nothing')).toMatchObject({ status: 404 });
    expect(await count('vendora-speech')).toMatchObject({ status: 400 });
    const other = await relay.customer('1');
    await relay.fixture.owner.query(`UPDATE api_keys SET allowed_models = '{vendora-chat}' WHERE id = $1`, [
      other.keyId,
    ]);
    const refusal = await refusalOf(sdkOf(other).messages.countTokens({ model: MODEL, messages }));
    expect(refusal).toBeInstanceOf(Anthropic.PermissionDeniedError);
    expect(refusal).toMatchObject({ error: { error: { details: { error_code: 'model_not_allowed' } } } });
  });

  it.each([
    ['reject-400', 400],
    ['reject-529', 503],
    ['reject-401', 503],
    ['reject-500', 503],
  ])("reports the vendor's fault as an error of ours: %s", async (fault, status) => {
    const sdk = sdkOf(await relay.customer('1'));
    const content = `[[fault:${fault}]]`;
    const refusal = await refusalOf(
      sdk.messages.countTokens({ model: MODEL, messages: [{ role: 'user', content }] }),
    );
    expect(refusal).toMatchObject({ status });
  });
});
