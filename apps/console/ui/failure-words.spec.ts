import { createInstance, type TFunction } from 'i18next';
import { describe, expect, it } from 'vitest';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ApiFailure } from '../api/failure.js';
import { wordsOfFailure } from './failure-words.js';

function textsIn(lng: string): Record<string, unknown> {
  const file = join(import.meta.dirname, '../i18n', lng, 'shell.json');
  return JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>;
}

async function wordsIn(lng: 'en' | 'zh', failure: ApiFailure) {
  const t: TFunction<'shell'> = await createInstance().init({
    lng,
    defaultNS: 'shell',
    resources: { [lng]: { shell: textsIn(lng) } },
  });
  return wordsOfFailure(failure, { t, isViewing: false });
}

describe('the text of a failure', () => {
  it('says which daily limit was reached, and when it opens again', async () => {
    const message = 'An account can make at most 20 changes of name in 24 hours. Try again in 7 hours.';
    const failure = new ApiFailure({ status: 429, code: 'too_many_attempts', message });
    expect(await wordsIn('en', failure)).toEqual({ text: 'A limit has been reached.', details: message });
    expect(await wordsIn('zh', failure)).toEqual({ text: '已达到次数上限。', details: message });
  });

  it('needs no message of the server if ours says it all', async () => {
    const failure = new ApiFailure({ status: 404, code: 'not_found', message: 'There is no model x.' });
    expect((await wordsIn('en', failure)).details).toBeNull();
  });
});
