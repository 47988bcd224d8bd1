import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import OpenAI from 'openai';
import { formatAmount, parseAmount } from '#money/amount.js';
import { addModel } from '../support/models.js';
import { closeClean, type Customer, json, type Relay, startRelay } from '../support/relay.js';

const MODEL = 'vendora-embed';
/** Nano-USD per input token, like the chat model that its price is copied from. */
const INPUT_NANOS = 2_500n;
const MAX_TEXTS = 256;

describe('embeddings, by the OpenAI SDK', () => {
  let relay: Relay;
  let customer: Customer;

  beforeAll(async () => {
    relay = await startRelay();
    const channel = { channel: 'sandbox', protocol: 'openai-xai', baseUrl: relay.sandboxUrl };
    await addModel(relay.fixture.owner, { id: MODEL, like: 'vendora-chat', ...channel });
    customer = await relay.customer('5');
  });
  afterAll(() => closeClean(relay));

  const after = (tokens: number) => formatAmount(parseAmount('5') - BigInt(tokens) * INPUT_NANOS);
  const refusalOf = (input: unknown, more = {}): Promise<unknown> =>
    customer
      .sdk()
      .embeddings.create({ model: MODEL, input: input as string, ...more })
      .catch((error: unknown) => error);

  it('return a vector for each text, and charge the tokens that were read', async () => {
    const other = await relay.customer('5');
    const { data, usage, model } = await other.sdk().embeddings.create({
      model: MODEL,
      input: ['a lighthouse', 'a paper boat at dusk'],
      encoding_format: 'float',
      dimensions: 16,
    });
    expect(model).toBe(MODEL);
    expect(data.map(({ index, embedding }) => [index, embedding.length])).toEqual([
      [0, 16],
      [1, 16],
    ]);
    expect(usage.prompt_tokens).toBe(3 + 5);
    expect(await other.balance()).toEqual({ main: after(8), held: '0' });
    // The SDK requests base64 by default, and decodes it.
    const again = await other
      .sdk()
      .embeddings.create({ model: MODEL, input: 'a lighthouse', dimensions: 16 });
    expect(again.data[0]!.embedding).toEqual(data[0]!.embedding);
  });

  it('accept tokens, hold for all of them, and estimate if no usage is reported', async () => {
    const other = await relay.customer('5');
    await other.sdk().embeddings.create({ model: MODEL, input: [[1, 2, 3], [4]] });
    expect(parseAmount((await other.balance()).main)).toBeLessThan(parseAmount('5'));
    await other.sdk().embeddings.create({ model: MODEL, input: 'a text [[fault:no-usage]]' });
    // More than the model reads of one text. The limit applies to each text, but all of them are held for.
    const long = Array.from({ length: 4 }, () => 'x'.repeat(200_000));
    const { usage } = await other.sdk().embeddings.create({ model: MODEL, input: long });
    expect(usage.prompt_tokens).toBe(200_000);
    const { rows } = await relay.fixture.owner.query<{ loss: bigint }>(
      'SELECT sum(operator_loss)::bigint AS loss FROM charges WHERE account_id = $1',
      [other.accountId],
    );
    expect(rows[0]!.loss).toBe(0n);
  });

  it.each([
    ['', {}, 'missing_required_parameter', 'input'],
    [[], {}, 'missing_required_parameter', 'input'],
    [{ text: 'x' }, {}, 'invalid_type', 'input'],
    [Array<string>(MAX_TEXTS + 1).fill('x'), {}, 'invalid_value', 'input'],
    ['x', { encoding_format: 'hex' }, 'invalid_value', 'encoding_format'],
    ['x', { dimensions: 0 }, 'invalid_value', 'dimensions'],
    ['x', { stream: true }, 'unknown_parameter', 'stream'],
  ])('refuse what they cannot take, and name the field: %p %p', async (input, more, code, param) => {
    const refusal = await refusalOf(input, more);
    expect(refusal).toBeInstanceOf(OpenAI.BadRequestError);
    expect(refusal).toMatchObject({ code, param });
  });

  it('cost nothing if they fail, and are priced in advance', async () => {
    const other = await relay.customer('5');
    for (const fault of ['fail-late', 'reject-503', 'truncated']) {
      const answer = await other.send('/v1/embeddings', json({ model: MODEL, input: `[[fault:${fault}]]` }));
      expect(answer.ok).toBe(false);
    }
    const dry = await other.send('/v1/embeddings', json({ model: MODEL, input: 'x', dry_run: true }));
    expect(await dry.json()).toMatchObject({ object: 'dry_run', model: MODEL });
    expect(await other.balance()).toEqual({ main: '5', held: '0' });
    expect(await refusalOf('x', { model: 'vendora-speech' })).toMatchObject({
      code: 'model_not_supported_here',
    });
  });
});
