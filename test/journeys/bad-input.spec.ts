import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { closeClean, type Customer, json, type Relay, startRelay } from '../support/relay.js';

const IMAGE = { model: 'vendora-imagine-image', prompt: 'a lighthouse' };
const VIDEO = { model: 'vendora-imagine-video', prompt: 'a paper boat' };
const IMAGES = '/v1/images/generations';
const VIDEOS = '/v1/videos';
const UNKNOWN_ID = '01jcq3v8w1f5p6k7m8n9q0r1s2';

interface Refusal {
  error: { message: string; type: string; param: string | null; code: string };
}

describe('bad input', () => {
  let relay: Relay;
  let customer: Customer;

  beforeAll(async () => {
    relay = await startRelay();
    customer = await relay.customer('1');
  });
  afterAll(() => closeClean(relay));

  /** Whatever was sent, nothing was charged and no secret was logged. */
  afterEach(async () => {
    expect(await customer.balance()).toEqual({ main: '1', held: '0' });
    const { rows } = await relay.fixture.billing.query('SELECT 1 FROM charges WHERE account_id = $1', [
      customer.accountId,
    ]);
    expect(rows).toEqual([]);
    expect(relay.logged()).not.toMatch(/sk-tg-|Bearer |sandbox-key|sig=/);
  });

  async function refused(
    path: string,
    init: RequestInit,
    expected: [number, string, (string | null)?],
  ): Promise<Refusal> {
    const response = await customer.send(path, init);
    const body = await response.text();
    const [status, code, param] = expected;
    expect({ status: response.status, body }).toMatchObject({ status });
    expect(response.headers.get('content-type')).toMatch(/^application\/json/);
    expect(response.headers.get('x-request-id')).toMatch(/^[0-9a-z]{26}$/);
    expect(response.headers.get('request-id')).toBe(response.headers.get('x-request-id'));
    expect(body).not.toMatch(/\bat .*[/(].*:\d+|node_modules|\.ts|\.js\b/);
    const refusal = JSON.parse(body) as Refusal;
    expect(Object.keys(refusal)).toEqual(['error']);
    expect(Object.keys(refusal.error).sort()).toEqual(['code', 'message', 'param', 'type']);
    expect(refusal.error).toMatchObject({ code, message: expect.stringMatching(/\S/) });
    if (param !== undefined) expect(refusal.error.param).toBe(param);
    return refusal;
  }

  describe('in an image request', () => {
    it.each<[string, unknown, string, string | null]>([
      ['no model', { prompt: 'x' }, 'missing_required_parameter', 'model'],
      ['no prompt', { model: IMAGE.model }, 'missing_required_parameter', 'prompt'],
      ['an empty prompt', { ...IMAGE, prompt: '  ' }, 'missing_required_parameter', 'prompt'],
      ['a null model', { ...IMAGE, model: null }, 'missing_required_parameter', 'model'],
      ['a number as prompt', { ...IMAGE, prompt: 5 }, 'invalid_type', 'prompt'],
      ['an object as model', { ...IMAGE, model: { $ne: null } }, 'invalid_type', 'model'],
      ['a prompt beyond the limit', { ...IMAGE, prompt: 'x'.repeat(32_001) }, 'invalid_value', 'prompt'],
      ['a NUL in the prompt', { ...IMAGE, prompt: 'a\0b' }, 'invalid_value', 'prompt'],
      ['half a surrogate pair', `{"model":"${IMAGE.model}","prompt":"\\ud800"}`, 'invalid_value', 'prompt'],
      ['n as text', { ...IMAGE, n: '2' }, 'invalid_type', 'n'],
      ['no images', { ...IMAGE, n: 0 }, 'invalid_value', 'n'],
      ['negative images', { ...IMAGE, n: -3 }, 'invalid_value', 'n'],
      ['half an image', { ...IMAGE, n: 1.5 }, 'invalid_value', 'n'],
      ['too many images', { ...IMAGE, n: 11 }, 'invalid_value', 'n'],
      ['an enormous number', `{"model":"${IMAGE.model}","prompt":"x","n":1e308}`, 'invalid_value', 'n'],
      ['an infinite number', `{"model":"${IMAGE.model}","prompt":"x","n":1e999}`, 'invalid_value', 'n'],
      ['a size in words', { ...IMAGE, size: 'large' }, 'invalid_value', 'size'],
      ['an enormous size', { ...IMAGE, size: '99999x99999' }, 'invalid_value', 'size'],
      ['a size of nothing', { ...IMAGE, size: '0x0' }, 'invalid_value', 'size'],
      ['a size as a number', { ...IMAGE, size: 512 }, 'invalid_type', 'size'],
      ['an unknown format', { ...IMAGE, response_format: 'gif' }, 'invalid_value', 'response_format'],
      ['a format as a list', { ...IMAGE, response_format: ['url'] }, 'invalid_type', 'response_format'],
      ['streaming as text', { ...IMAGE, stream: 'yes' }, 'invalid_type', 'stream'],
      ['an aspect ratio in words', { ...IMAGE, aspect_ratio: 'wide' }, 'invalid_value', 'aspect_ratio'],
      ['an empty quality', { ...IMAGE, quality: '' }, 'invalid_value', 'quality'],
      ['a blank quality', { ...IMAGE, quality: ' ' }, 'invalid_value', 'quality'],
      ['an empty resolution', { ...IMAGE, resolution: '' }, 'invalid_value', 'resolution'],
      ['a sign whose lower case is k', { ...IMAGE, resolution: '1\u212a' }, 'invalid_value', 'resolution'],
      ['a video model', { ...IMAGE, model: VIDEO.model }, 'model_not_supported_here', 'model'],
      ['a list as body', [IMAGE], 'invalid_type', null],
      ['text as body', '"hello"', 'invalid_type', null],
      ['null as body', 'null', 'invalid_type', null],
      ['broken JSON', '{"model":', 'invalid_json', null],
      ['an empty body', '', 'invalid_json', null],
      ['a prototype', '{"__proto__":{"model":"x"},"prompt":"y"}', 'invalid_json', null],
    ])('%s', async (_what, body, code, param) => {
      await refused(IMAGES, json(body), [400, code, param]);
    });

    it('a model that is unknown, or not even a name', async () => {
      for (const model of ['gpt-image-1', '../../etc/passwd', '__proto__', 'constructor']) {
        await refused(IMAGES, json({ ...IMAGE, model }), [404, 'model_not_found', 'model']);
      }
    });

    it('a huge body, announced or not', async () => {
      const huge = JSON.stringify({ ...IMAGE, prompt: 'x'.repeat(3_000_000) });
      await refused(IMAGES, json(huge), [413, 'request_too_large']);
      const stream = new ReadableStream({
        start(controller) {
          controller.enqueue(new TextEncoder().encode(huge));
          controller.close();
        },
      });
      const init = { ...json(''), body: stream, duplex: 'half' } as RequestInit;
      const response = await customer.send(IMAGES, init).catch(() => undefined);
      // A client that is still sending may see the closed connection before the answer.
      if (response) expect(response.status).toBe(413);
    });

    it('a compressed body, and one that is not UTF-8', async () => {
      const headers = { 'content-type': 'application/json' };
      const body = gzipSync(JSON.stringify(IMAGE));
      const compressed = { method: 'POST', body, headers: { ...headers, 'content-encoding': 'gzip' } };
      const { error } = await refused(IMAGES, compressed, [415, 'unsupported_media_type']);
      expect(error.message).toContain('Content-Encoding');
      const latin = Buffer.from(JSON.stringify({ ...IMAGE, prompt: 'caf\u00e9' }), 'latin1');
      const unreadable = await refused(IMAGES, { method: 'POST', body: latin, headers }, [
        400,
        'invalid_request',
      ]);
      expect(unreadable.error.message).toContain('UTF-8');
      const plain = json({}, { 'content-encoding': 'identity' });
      await refused(IMAGES, plain, [400, 'missing_required_parameter']);
    });

    it('another content type', async () => {
      for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/xml', 'nonsense']) {
        const init = { method: 'POST', body: 'model=x', headers: { 'content-type': type } };
        await refused(IMAGES, init, [415, 'unsupported_media_type']);
      }
      const form = new FormData();
      form.set('model', IMAGE.model);
      await refused(IMAGES, { method: 'POST', body: form }, [415, 'unsupported_media_type']);
    });
  });

  describe('in a video request', () => {
    it.each<[string, unknown, [number, string, string]]>([
      ['seconds as a number', { ...VIDEO, seconds: 5 }, [400, 'invalid_type', 'seconds']],
      ['seconds as a list', { ...VIDEO, seconds: ['5'] }, [400, 'invalid_type', 'seconds']],
      ['seconds in words', { ...VIDEO, seconds: 'five' }, [400, 'invalid_value', 'seconds']],
      ['a fraction of a second', { ...VIDEO, seconds: '2.5' }, [400, 'invalid_value', 'seconds']],
      ['no seconds', { ...VIDEO, seconds: '0' }, [400, 'invalid_value', 'seconds']],
      ['negative seconds', { ...VIDEO, seconds: '-5' }, [400, 'invalid_value', 'seconds']],
      ['too many seconds', { ...VIDEO, seconds: '16' }, [400, 'invalid_value', 'seconds']],
      ['endless seconds', { ...VIDEO, seconds: '9'.repeat(400) }, [400, 'invalid_value', 'seconds']],
      ['an enormous duration', { ...VIDEO, duration: 1e21 }, [400, 'invalid_value', 'duration']],
      ['a negative duration', { ...VIDEO, duration: -1 }, [400, 'invalid_value', 'duration']],
      ['duration as an object', { ...VIDEO, duration: {} }, [400, 'invalid_type', 'duration']],
      ['two durations', { ...VIDEO, seconds: '4', duration: 5 }, [400, 'invalid_value', 'duration']],
      ['1080p of the base model', { ...VIDEO, resolution: '1080p' }, [400, 'invalid_value', 'resolution']],
      ['1080p by its size', { ...VIDEO, size: '1024x1792' }, [400, 'invalid_value', 'size']],
      ['a resolution in words', { ...VIDEO, resolution: 'best' }, [400, 'invalid_value', 'resolution']],
      ['a resolution as a number', { ...VIDEO, resolution: 720 }, [400, 'invalid_type', 'resolution']],
      ['an image model', { ...VIDEO, model: IMAGE.model }, [400, 'model_not_supported_here', 'model']],
      ['an unknown model', { ...VIDEO, model: 'sora-2' }, [404, 'model_not_found', 'model']],
      ['no prompt', { model: VIDEO.model }, [400, 'missing_required_parameter', 'prompt']],
      ['a NUL in the prompt', { ...VIDEO, prompt: '\0' }, [400, 'invalid_value', 'prompt']],
      [
        'image',
        { ...VIDEO, image: 'https://example.com/a.png' },
        [422, 'image_input_not_supported', 'image'],
      ],
      [
        'image as an object',
        { ...VIDEO, image: { url: 'data:' } },
        [422, 'image_input_not_supported', 'image'],
      ],
      ['images', { ...VIDEO, images: ['x'] }, [422, 'image_input_not_supported', 'images']],
      [
        'input_reference',
        { ...VIDEO, input_reference: 'x' },
        [422, 'image_input_not_supported', 'input_reference'],
      ],
      [
        'reference_images',
        { ...VIDEO, reference_images: [{}] },
        [422, 'image_input_not_supported', 'reference_images'],
      ],
      [
        'instances',
        { ...VIDEO, instances: [{ image: {} }] },
        [422, 'image_input_not_supported', 'instances'],
      ],
    ])('%s', async (_what, body, expected) => {
      for (const path of [VIDEOS, '/v1/videos/generations', '/vendora/v1/videos/generations']) {
        await refused(path, json(body), expected);
      }
    });

    it('the same in multipart, where everything is text', async () => {
      await refused(VIDEOS, form({ ...VIDEO, seconds: '99' }), [400, 'invalid_value', 'seconds']);
      await refused(VIDEOS, form({ ...VIDEO, seconds: '' }), [400, 'invalid_value', 'seconds']);
      await refused(VIDEOS, form({ prompt: 'x' }), [400, 'missing_required_parameter', 'model']);
      const bracket = 'input_reference[image_url]';
      await refused(VIDEOS, form({ ...VIDEO, [bracket]: 'https://x' }), [
        422,
        'image_input_not_supported',
        bracket,
      ]);
    });

    it('multipart that is broken, endless or deep', async () => {
      const headers = { 'content-type': 'multipart/form-data; boundary=xyz' };
      const broken = [
        '',
        '--xyz',
        '--xyz\r\nContent-Disposition: form-data; name="model"\r\n\r\nab',
        'no multipart at all',
        '--xyz\r\nContent-Disposition: form-data\r\n\r\nab\r\n--xyz--\r\n',
      ];
      for (const body of broken) {
        await refused(VIDEOS, { method: 'POST', headers, body }, [
          400,
          expect.stringMatching(/invalid_multipart|missing/),
        ]);
      }
      await refused(
        VIDEOS,
        { method: 'POST', headers: { 'content-type': 'multipart/form-data' }, body: 'x' },
        [400, 'invalid_multipart'],
      );
      const many = Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`field${index}`, 'x']));
      await refused(VIDEOS, form({ ...VIDEO, ...many }), [413, 'request_too_large']);
      await refused(VIDEOS, form({ ...VIDEO, prompt: 'x'.repeat(400_000) }), [413, 'request_too_large']);
      await refused(VIDEOS, form({ ...VIDEO, __proto__x: 'y', constructor: 'z' }), [
        400,
        'invalid_multipart',
      ]);
    });

    it.each([
      ['of Latin-1', Buffer.from('caf\u00e9', 'latin1')],
      ['cut off', Buffer.from('caf\u00e9').subarray(0, -1)],
      ['long', Buffer.concat([Buffer.alloc(100_000, 'x'), Buffer.from([0xff])])],
    ])('a field of a form that is not UTF-8: %s', async (_what, bytes) => {
      for (const path of [VIDEOS, '/v1/images/edits', '/v1/audio/transcriptions'])
        await refused(path, rawForm('prompt', bytes), [400, 'invalid_value', 'prompt']);
    });
  });

  describe('in paths', () => {
    it.each([
      UNKNOWN_ID,
      '..%2f..%2fetc%2fpasswd',
      '%2e%2e%2f',
      '%00',
      `${UNKNOWN_ID}%00`,
      `${UNKNOWN_ID}%0d%0aset-cookie:x`,
      "'%20OR%201=1--",
      '%7B%7B7*7%7D%7D',
      'a'.repeat(5000),
      '%F0%9F%8E%AC',
      'characters',
      'extensions',
    ])('an invalid ID: %.40s', async (id) => {
      for (const base of ['/v1/videos', '/vendora/v1/videos']) {
        await refused(`${base}/${id}`, {}, [404, 'video_not_found']);
        await refused(`${base}/${id}/content`, {}, [404, 'video_not_found']);
      }
    });

    it('an invalid percent sign', async () => {
      for (const path of ['/v1/videos/%zz', '/v1/videos/%c0%af', '/%'])
        await refused(path, {}, [400, 'invalid_request']);
    });

    it('a file in another folder', async () => {
      for (const name of ['..%2fvideos%2fx.mp4', `${UNKNOWN_ID}-0.png`, 'x%00.png', `${UNKNOWN_ID}-0.mp4`]) {
        await refused(`/v1/images/files/${name}?exp=99999999999&sig=${'A'.repeat(43)}`, {}, [
          404,
          'file_not_found',
        ]);
      }
    });

    it('a wrong base URL, with the right one in the answer', async () => {
      for (const [path, hint] of [
        ['/v1/v1/models', /The path is \/v1\/models: .* one \/v1 too many/],
        ['/models', /end in \/v1/],
        ['/images/generations', /end in \/v1/],
        ['/api/v1/videos', /The path is \/v1\/videos: .* one \/api too many/],
        ['/v1/v1/messages', /without \/v1/],
        ['/nonsense', /^Unknown URL \(GET \/nonsense\)\. GET \/docs lists all paths\.$/],
      ] as const) {
        const { error } = await refused(path, {}, [404, 'unknown_url']);
        expect(error.message).toMatch(hint);
      }
      const native = '/models/imgmodel-4:predict';
      await refused(`/v1${native}`, json({}), [404, 'unknown_url']);
      const keyless = await fetch(`${relay.baseUrl}/nowhere`);
      expect(keyless.status).toBe(404);
    });

    it('a method that a path does not accept, and endpoints that are not offered', async () => {
      await refused(IMAGES, {}, [405, 'method_not_allowed']);
      await refused('/v1/models', { method: 'DELETE' }, [405, 'method_not_allowed']);
      await refused('/v1/videos/edits', json({}), [404, 'unknown_url']);
      await refused('/v1/videos/characters', json({}), [404, 'unknown_url']);
    });
  });

  it('on the conversation paths', async () => {
    for (const path of ['/v1/chat/completions', '/v1/responses']) {
      await refused(path, json({ model: VIDEO.model, messages: [] }), [
        400,
        'model_not_supported_here',
        'model',
      ]);
      await refused(path, json({ model: IMAGE.model, messages: [] }), [
        400,
        'model_not_supported_here',
        'model',
      ]);
      await refused(path, json({ model: 'gpt-9', messages: [] }), [404, 'model_not_found', 'model']);
      await refused(path, json({}), [400, 'missing_required_parameter', 'model']);
    }
    const messages = await customer.send('/v1/messages', json({ model: VIDEO.model, messages: [] }));
    expect(messages.status).toBe(400);
    expect(await messages.json()).toEqual({
      type: 'error',
      error: {
        type: 'invalid_request_error',
        message: expect.stringMatching(/^model_not_supported_here: /),
        details: { error_code: 'model_not_supported_here', param: 'model' },
      },
      request_id: messages.headers.get('request-id'),
    });
  });

  it('something that is not HTTP', async () => {
    const { port } = new URL(relay.baseUrl);
    const answer = await new Promise<string>((resolve, reject) => {
      const socket = connect(Number(port), '127.0.0.1', () => socket.write('NONSENSE\r\n\r\n'));
      const chunks: Buffer[] = [];
      socket.on('data', (chunk: Buffer) => chunks.push(chunk));
      socket.on('end', () => resolve(Buffer.concat(chunks).toString()));
      socket.on('error', reject);
    });
    expect(answer).toMatch(/^HTTP\/1.1 400 /);
    expect(answer).toMatch(/x-request-id: [0-9a-z]{26}/);
    expect(answer).toMatch(/"code":"invalid_request"/);
  });

  it('without a key, before the body is read', async () => {
    const response = await fetch(relay.baseUrl + IMAGES, json('{"broken'));
    expect(response.status).toBe(401);
    expect(await response.json()).toMatchObject({ error: { code: 'invalid_api_key' } });
  });

  function form(fields: Record<string, string>): RequestInit {
    const body = new FormData();
    for (const [name, value] of Object.entries(fields)) body.append(name, value);
    return { method: 'POST', body };
  }

  /** A form as clients send it that do not know the encoding of a text. */
  function rawForm(name: string, bytes: Buffer): RequestInit {
    const head = `--xyz\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n`;
    const body = Buffer.concat([Buffer.from(head), bytes, Buffer.from('\r\n--xyz--\r\n')]);
    return { method: 'POST', headers: { 'content-type': 'multipart/form-data; boundary=xyz' }, body };
  }
});
