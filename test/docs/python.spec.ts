import { afterAll, beforeAll, expect, it } from 'vitest';
import { blocksOf, consoleSamples, nameOf, pages } from './support/blocks.js';
import { Reader } from './support/reader.js';

let reader: Reader;
beforeAll(async () => {
  if (!process.env['TOLLGATE_DOCS_PYTHON'])
    throw new Error(
      'TOLLGATE_DOCS_PYTHON is not set: npm test -- --only docs installs the SDKs and sets it.',
    );
  reader = await Reader.start('python');
});
afterAll(() => reader?.close());

const runs = [...pages().flatMap(blocksOf), ...consoleSamples()].filter(
  ({ language, reason }) => language === 'python' && reason === undefined,
);

it.each(runs.map((block) => [nameOf(block), block] as const))('%s', async (_, block) => {
  expect(typeof (await reader.run(block))).toBe('string');
});

/**
 * The vendor has no JavaScript client. If the vendor's own client can read the sandbox's format, it is the vendor's
 * format.
 */
const ARK = `
from volcenginesdkarkruntime import Ark
from volcenginesdkarkruntime._exceptions import ArkBadRequestError
ark = Ark(api_key='sandbox-key', base_url='SANDBOX/ark/v3', max_retries=0)
made = ark.images.generate(model='seedream', prompt='a fox', size='64x32', response_format='b64_json')
assert len(made.data) == 1 and made.data[0].b64_json and made.usage.output_tokens > 0
tasks = ark.content_generation.tasks
content = [{'type': 'text', 'text': 'a boat [[work:0]]'}]
task = tasks.create(model='seedance', content=content, duration=1, ratio='16:9', resolution='720p', generate_audio=False)
film = tasks.get(task_id=task.id)
assert film.status == 'succeeded' and film.content.video_url.endswith('.mp4'), film
try:
    ark.images.generate(model='seedream', prompt='[[fault:moderation]]')
    raise AssertionError('it was not refused')
except ArkBadRequestError as refused:
    assert refused.code == 'content_policy_violation'
`;

it("the sandbox speaks Ark's format, according to the vendor's own client", async () => {
  await reader.run({ language: 'python', code: ARK.replace('SANDBOX', reader.relay.sandboxUrl) });
});
