import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import type { ChargeRequested } from '#bus/payloads.js';

const root = join(import.meta.dirname, '../..');

type Load = (alias: string) => Promise<object>;
type Format = (name: string, text: string) => Promise<string>;
type Page = (load: Load) => Promise<string>;

interface AsyncApi {
  components: { messages: Record<string, { payload: object }> };
}

const load: Load = (alias) => import(alias) as Promise<object>;
const script = (name: string) => import(pathToFileURL(join(root, 'scripts/lib', name)).href);

async function formatted(name: string, page: string): Promise<string> {
  const { formatted: format } = (await script('format.mjs')) as { formatted: Format };
  return format(name, page);
}

it('docs/configuration.md matches what the programs declare: `npm run reference` writes it', async () => {
  const { configurationPage } = (await script('configuration.mjs')) as { configurationPage: Page };
  const file = 'docs/configuration.md';
  expect(readFileSync(join(root, file), 'utf8')).toBe(await formatted(file, await configurationPage(load)));
});

it('docs/errors.md has every code from the error table: `npm run reference` writes it', async () => {
  const { errorsPage } = (await script('errors.mjs')) as { errorsPage: Page };
  const file = 'docs/errors.md';
  expect(readFileSync(join(root, file), 'utf8')).toBe(await formatted(file, await errorsPage(load)));
});

it('docs/models.md says what each protocol offers and what is tested: `npm run reference` writes it', async () => {
  const { modelsPage } = (await script('models.mjs')) as { modelsPage: Page };
  const file = 'docs/models.md';
  expect(readFileSync(join(root, file), 'utf8')).toBe(await formatted(file, await modelsPage(load)));
});

it('the console offers every protocol: `npm run reference` writes its list', async () => {
  const { protocolList } = (await script('models.mjs')) as { protocolList: Page };
  const file = 'apps/console/admin/catalog/protocols.ts';
  expect(readFileSync(join(root, file), 'utf8')).toBe(await formatted(file, await protocolList(load)));
});

describe('docs/asyncapi.yaml', () => {
  const describeTopics = async () =>
    ((await script('asyncapi.mjs')) as { describeTopics: (load: Load) => Promise<AsyncApi> }).describeTopics(
      load,
    );

  it('lists the topics: `npm run reference` writes it', async () => {
    const { topicsPage } = (await script('asyncapi.mjs')) as { topicsPage: Page };
    const file = 'docs/asyncapi.yaml';
    expect(readFileSync(join(root, file), 'utf8')).toBe(await formatted(file, await topicsPage(load)));
  });

  it('is AsyncAPI 3.0', async () => {
    const schema = createRequire(import.meta.url)('@asyncapi/specs/schemas/3.0.0.json') as object;
    // The schema includes the draft that it is written in.
    const ajv = new Ajv({ strict: false, meta: false, validateSchema: false, validateFormats: false });
    const isValid = ajv.compile(schema);
    isValid(await describeTopics());
    expect(isValid.errors).toBeNull();
  });

  it('describes messages as the programs check them', async () => {
    const { components } = await describeTopics();
    const ajv = new Ajv({ strict: false });
    (addFormats as unknown as (to: Ajv) => void)(ajv);
    const isCharge = ajv.compile(components.messages['ChargeRequested']!.payload);
    const charge: ChargeRequested = {
      chargeId: 'c',
      accountId: 'a',
      keyId: 'k',
      model: 'm',
      requestedModel: 'm',
      group: 'g',
      units: '2',
      quotedAmount: '0.02',
      expiresAt: '2027-01-31T08:00:00.000Z',
      deadline: null,
      requestId: 'r',
    };
    expect(isCharge(charge)).toBe(true);
    for (const wrong of [{ units: 2 }, { quotedAmount: '1e3' }, { expiresAt: 'soon' }, { model: '' }])
      expect([wrong, isCharge({ ...charge, ...wrong })]).toEqual([wrong, false]);
    const { keyId: _, ...without } = charge;
    expect(isCharge(without)).toBe(false);
  });
});
