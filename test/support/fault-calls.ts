import type { ChannelProtocol } from '#upstream/adapters.js';
import { faultTables, type FaultTable } from './fault-tables.js';
import { type Customer, json } from './relay.js';
import { silentWav, soundForm } from './sounds.js';

/** What a client of a 200 has seen by the end of it. */
export interface Sequel {
  then: string;
  /** The part of a text answer that the client read. */
  text?: string;
}

/** One kind of call in one protocol. */
export interface FaultCall {
  name: string;
  protocol: ChannelProtocol;
  /** The error format of this path. */
  shape: 'openai' | 'google' | 'anthropic';
  table: FaultTable;
  /** The number of tokens of sound in the request. */
  heard?: number;
  /** Creates and pays for what the call refers to, and returns its id. */
  before?(customer: Customer): Promise<string>;
  send(customer: Customer, prompt: string, id: string): Promise<Response>;
  follow(customer: Customer, response: Response): Promise<Sequel>;
}

const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const HEARD_SECONDS = 2;
/** The sandbox's rate for sound. */
const TOKENS_PER_SECOND = 10;
const POLL_PAUSE_MS = 200;
/** Longer than any task's deadline. */
const TASK_LIMIT_MS = 180_000;

type Base = Pick<FaultCall, 'name' | 'protocol' | 'shape' | 'table'>;

function openai(name: string, protocol: ChannelProtocol, table: FaultTable): Base {
  return { name: `${name} over ${protocol}`, protocol, shape: 'openai', table };
}

const countImages = async (response: Response): Promise<Sequel> => {
  const { data, predictions } = (await response.json()) as Record<string, unknown[] | undefined>;
  return { then: `${(data ?? predictions)?.length} images` };
};

function imageCall(base: Base, path: string, fields: object): FaultCall {
  return {
    ...base,
    send: (customer, prompt) => customer.send(path, json({ prompt, n: 2, size: '64x64', ...fields })),
    follow: (_customer, response) => countImages(response),
  };
}

function predictCall(protocol: ChannelProtocol, table: FaultTable): FaultCall {
  return {
    name: `:predict over ${protocol}`,
    protocol,
    shape: 'google',
    table,
    send: (customer, prompt) =>
      customer.send(
        `/v1beta/models/imgmodel-${protocol}:predict`,
        json({ instances: [{ prompt }], parameters: { sampleCount: 2 } }),
      ),
    follow: (_customer, response) => countImages(response),
  };
}

interface TaskBody {
  id: string;
  status: string;
  error: { code: string } | null;
}

function taskCall(base: Base, path: string, fields: object): FaultCall {
  return {
    ...base,
    send: (customer, prompt) => customer.send(path, json({ prompt, ...fields })),
    follow: async (customer, response) => {
      const { status, error } = await endOfTask(customer, path, response);
      return { then: error ? `${status} ${error.code}` : status };
    },
  };
}

async function endOfTask(customer: Customer, path: string, response: Response): Promise<TaskBody> {
  const { id } = (await response.json()) as TaskBody;
  return ended<TaskBody>(
    customer,
    `${path}/${id}`,
    (task) => task.status === 'completed' || task.status === 'failed',
  );
}

interface Operation {
  name: string;
  done: boolean;
  response?: object;
  error?: { code: number; message: string };
}

function longRunningCall(protocol: ChannelProtocol): FaultCall {
  return {
    name: `:predictLongRunning over ${protocol}`,
    protocol,
    shape: 'google',
    table: faultTables.videos,
    send: (customer, prompt) =>
      customer.send(
        `/v1beta/models/vidmodel-${protocol}:predictLongRunning`,
        json({ instances: [{ prompt }], parameters: { durationSeconds: 1 } }),
      ),
    follow: async (customer, response) => {
      const { name } = (await response.json()) as Operation;
      const { error } = await ended<Operation>(customer, `/v1beta/${name}`, ({ done }) => done);
      // google.rpc.Status has no field for our code, so its message begins with it.
      return { then: error ? `failed ${error.message.split(':', 1)[0]}` : 'completed' };
    },
  };
}

async function ended<T>(customer: Customer, path: string, isEnd: (body: T) => boolean): Promise<T> {
  for (const before = Date.now(); Date.now() - before < TASK_LIMIT_MS;) {
    const response = await customer.send(path);
    const body = (await response.json()) as T;
    // A busy gateway asks for a repeat.
    if (response.status !== 200 && response.status !== 503)
      throw new Error(`a poll was answered ${response.status}`);
    if (response.status === 200 && isEnd(body)) return body;
    await new Promise((resolve) => setTimeout(resolve, POLL_PAUSE_MS));
  }
  throw new Error(`${path} did not end`);
}

type Dialect = 'chat' | 'responses' | 'messages';

const PATHS = { chat: '/v1/chat/completions', responses: '/v1/responses', messages: '/v1/messages' };
const LAST_EVENT = { chat: '[DONE]', responses: 'response.completed', messages: 'message_stop' };

function talk(kind: Dialect, protocol: ChannelProtocol, isStreamed: boolean): FaultCall {
  const isMessages = kind === 'messages';
  const { whole, streamed, wholeMessages, streamedMessages } = faultTables;
  const table = isMessages ? (isStreamed ? streamedMessages : wholeMessages) : isStreamed ? streamed : whole;
  return {
    name: `${kind}${isStreamed ? ', streamed,' : ''} over ${protocol}`,
    protocol,
    table,
    shape: isMessages ? 'anthropic' : 'openai',
    send: (customer, prompt) => {
      const input =
        kind === 'responses' ? { input: prompt } : { messages: [{ role: 'user', content: prompt }] };
      const limit = isMessages ? { max_tokens: 100 } : {};
      const stream = isStreamed ? { stream: true } : {};
      return customer.send(PATHS[kind], json({ model: `chat-${protocol}`, ...input, ...limit, ...stream }));
    },
    follow: async (_customer, response) => {
      const text = await response.text();
      return isStreamed ? heard(kind, text) : { then: 'whole', text: saidIn(JSON.parse(text)) };
    },
  };
}

/** All text of a complete answer, wherever its format puts it. */
function saidIn(answer: unknown): string {
  const { choices, output, content } = answer as Record<string, unknown>;
  const message = (choices as { message: { content: string } }[] | undefined)?.[0]?.message.content;
  const item = (output as { content: { text: string }[] }[] | undefined)?.[0]?.content;
  return message ?? (item ?? (content as { text: string }[]))[0]?.text ?? '';
}

function heard(kind: Dialect, stream: string): Sequel {
  const lines = stream.split('\n').filter((line) => line.startsWith('data: '));
  const events = lines.map((line) => line.slice('data: '.length));
  let text = '';
  for (const event of events.filter((each) => each !== '[DONE]')) {
    const json = JSON.parse(event) as Record<string, unknown>;
    if (json['error']) return { then: `half, then ${codeIn(json['error'])}`, text };
    text += deltaOf(kind, json);
  }
  const last = events.at(-1) ?? '';
  return { then: last.includes(LAST_EVENT[kind]) ? 'whole' : 'cut', text };
}

function codeIn(error: unknown): string {
  const { code, details } = error as { code?: string; details?: { error_code: string } };
  return code ?? details?.error_code ?? '';
}

function deltaOf(kind: Dialect, json: Record<string, unknown>): string {
  const { choices, delta, type } = json;
  if (kind === 'chat') return (choices as { delta: { content?: string } }[])[0]?.delta.content ?? '';
  if (kind === 'responses') return type === 'response.output_text.delta' ? (delta as string) : '';
  return type === 'content_block_delta' ? (delta as { text: string }).text : '';
}

interface Contents {
  candidates?: { content: { parts: { text: string }[] }; finishReason?: string }[];
  error?: unknown;
}

/** A chat in Google's format. */
function contentsCall(protocol: 'gemini' | 'vertex', isStreamed: boolean): FaultCall {
  const method = isStreamed ? 'streamGenerateContent?alt=sse' : 'generateContent';
  return {
    name: `contents${isStreamed ? ', streamed,' : ''} over ${protocol}`,
    protocol,
    shape: 'google',
    table: isStreamed ? faultTables.streamed : faultTables.whole,
    send: (customer, prompt) => {
      const contents = [{ role: 'user', parts: [{ text: prompt }] }];
      return customer.send(`/v1beta/models/chat-${protocol}:${method}`, json({ contents }));
    },
    follow: async (_customer, response) => {
      const text = await response.text();
      const lines = isStreamed ? text.split('\n').filter((line) => line.startsWith('data: ')) : [text];
      const pieces = lines.map((line) => JSON.parse(line.replace('data: ', '')) as Contents);
      const fault = pieces.find(({ error }) => error);
      const said = pieces.flatMap(({ candidates = [] }) => candidates[0]?.content.parts ?? []);
      const isWhole = pieces.at(-1)?.candidates?.[0]?.finishReason === 'STOP';
      const end = isWhole ? 'whole' : 'cut';
      return {
        then: fault ? `half, then ${(fault as unknown as { code: string }).code}` : end,
        text: said.map((part) => part.text).join(''),
      };
    },
  };
}

function speechCall(protocol: ChannelProtocol): FaultCall {
  return {
    ...openai('speech', protocol, faultTables.speech),
    send: (customer, prompt) => {
      const fields = { model: `speech-${protocol}`, voice: 'alloy', response_format: 'wav' };
      return customer.send('/v1/audio/speech', json({ ...fields, input: prompt }));
    },
    follow: async (_customer, response) => {
      const sound = await response.arrayBuffer().catch(() => undefined);
      return { then: sound ? 'whole' : 'broken' };
    },
  };
}

function embeddingCall(protocol: ChannelProtocol): FaultCall {
  return {
    ...openai('embeddings', protocol, faultTables.embeddings),
    send: (customer, prompt) =>
      customer.send('/v1/embeddings', json({ model: `embed-${protocol}`, input: prompt })),
    follow: async (_customer, response) => {
      const { data } = (await response.json()) as { data: { embedding: number[] }[] };
      return { then: data[0] && data[0].embedding.length > 0 ? 'whole' : 'broken' };
    },
  };
}

function hearingCall(kind: 'transcription' | 'translation', protocol: ChannelProtocol): FaultCall {
  return {
    ...openai(kind, protocol, faultTables.hearing),
    send: (customer, prompt) => {
      const body = soundForm(silentWav(HEARD_SECONDS), { model: `hear-${protocol}`, prompt });
      return customer.send(`/v1/audio/${kind}s`, { method: 'POST', body });
    },
    follow: async (_customer, response) => {
      const { text } = (await response.json()) as { text: string };
      return { then: text === '' ? 'broken' : 'whole' };
    },
  };
}

/** A streamed transcription by a model priced by tokens. */
function heardStreamCall(protocol: ChannelProtocol): FaultCall {
  const name = `transcription, streamed, by tokens over ${protocol}`;
  return {
    ...openai('transcription', protocol, faultTables.hearingStreamed),
    name,
    send: (customer, prompt) => {
      const fields = { model: `heartokens-${protocol}`, prompt, stream: 'true' };
      const body = soundForm(silentWav(HEARD_SECONDS), fields);
      return customer.send('/v1/audio/transcriptions', { method: 'POST', body });
    },
    heard: HEARD_SECONDS * TOKENS_PER_SECOND,
    follow: async (_customer, response) => {
      const stream = await response.text();
      const text = [...stream.matchAll(/"delta":"([^"]*)"/g)].map(([, delta]) => delta).join('');
      return { then: endOf(stream, 'transcript.text.done'), text };
    },
  };
}

/** A streamed image, from a prompt or from an image. */
function imageStreamCall(kind: 'imageStream' | 'editStream'): FaultCall {
  const path = kind === 'imageStream' ? '/v1/images/generations' : '/v1/images/edits';
  const fields = kind === 'imageStream' ? {} : { image: edit.image };
  const streaming = { stream: true, partial_images: 1, size: '64x64' };
  return {
    ...openai(kind, 'openai', faultTables.imageStreamed),
    send: (customer, prompt) =>
      customer.send(path, json({ model: 'imgmodel-openai', prompt, ...streaming, ...fields })),
    follow: async (_customer, response) => ({ then: endOf(await response.text(), '.completed"') }),
  };
}

/** How a stream ended, by its last event. */
function endOf(stream: string, last: string): string {
  const lines = stream.split('\n').filter((line) => line.startsWith('data: '));
  const event = lines.at(-1)?.slice('data: '.length) ?? '{}';
  const { error } = JSON.parse(event) as { error?: unknown };
  if (error) return `half, then ${codeIn(error)}`;
  return event.includes(last) ? 'whole' : 'cut';
}

const edit = { image: { url: `data:image/png;base64,${PNG}` }, response_format: 'b64_json' };

function bothImageCalls(protocol: ChannelProtocol, table: FaultTable): FaultCall[] {
  const model = `imgmodel-${protocol}`;
  return [
    imageCall(openai('images', protocol, table), '/v1/images/generations', { model }),
    imageCall(openai('imageEdits', protocol, table), '/v1/images/edits', { model, ...edit }),
  ];
}

/** The same with a model priced by tokens. The tables have the numbers. */
function imageCallsByTokens(protocol: ChannelProtocol): FaultCall[] {
  const model = `imgtokens-${protocol}`;
  const { imagesByTokens, editsByTokens } = faultTables;
  const [made, edited] = [
    openai('images by the token', protocol, imagesByTokens),
    openai('imageEdits by the token', protocol, editsByTokens),
  ];
  return [
    imageCall(made, '/v1/images/generations', { model }),
    imageCall(edited, '/v1/images/edits', { model, ...edit }),
  ];
}

function videoCall(protocol: ChannelProtocol, table: FaultTable): FaultCall {
  const fields = { model: `vidmodel-${protocol}`, seconds: '1' };
  return taskCall(openai('videos', protocol, table), '/v1/videos', fields);
}

/** A remix of an existing video. */
function remixCall(protocol: ChannelProtocol): FaultCall {
  const path = '/v1/videos';
  const video = videoCall(protocol, faultTables.videoRemixes);
  return {
    ...video,
    ...openai('videoRemixes', protocol, faultTables.videoRemixes),
    before: async (customer) => {
      const { id } = await endOfTask(customer, path, await video.send(customer, 'a fox [[work:0]]', ''));
      return id;
    },
    send: (customer, prompt, id) => customer.send(`${path}/${id}/remix`, json({ prompt })),
  };
}

/** Every kind of call that a protocol supports. */
export const faultCalls = {
  pictures: [
    ...(['openai-xai', 'openai', 'xai'] as const).flatMap((protocol) =>
      bothImageCalls(protocol, faultTables.images),
    ),
    ...(['openai-xai', 'openai'] as const).flatMap(imageCallsByTokens),
    imageCall(openai('images', 'gemini', faultTables.geminiImages), '/v1/images/generations', {
      model: 'imgmodel-gemini',
    }),
    imageCall(openai('images', 'vertex', faultTables.geminiImages), '/v1/images/generations', {
      model: 'imgmodel-vertex',
    }),
    imageCall(openai('images by address', 'openai', faultTables.imagesByAddress), '/v1/images/generations', {
      model: 'imgmodel-by-address',
    }),
    ...bothImageCalls('fal', faultTables.imagesOfQueue),
    ...bothImageCalls('bfl', faultTables.imagesOfQueueOneByOne),
    ...bothImageCalls('ark', faultTables.imagesOneByOne),
    imageCall(openai('images', 'replicate', faultTables.imagesOfQueue), '/v1/images/generations', {
      model: 'imgmodel-replicate',
    }),
    imageStreamCall('imageStream'),
    imageStreamCall('editStream'),
    predictCall('openai', faultTables.images),
    predictCall('gemini', faultTables.geminiImages),
  ],
  tasks: [
    ...(['openai-xai', 'openai', 'xai', 'gemini'] as const).map((protocol) =>
      videoCall(protocol, faultTables.videos),
    ),
    remixCall('openai'),
    remixCall('openai-xai'),
    videoCall('fal', faultTables.videosOfQueue),
    videoCall('replicate', faultTables.videosLookedAtLate),
    videoCall('ark', faultTables.videosWithoutKeys),
    videoCall('vertex', faultTables.videosWithoutKeys),
    longRunningCall('gemini'),
    longRunningCall('openai'),
    taskCall(openai('assets3d', 'mesh3d', faultTables.assets), '/v1/3d', { model: '3d-mesh3d' }),
    taskCall(openai('assets3d', 'meshy', faultTables.assetsWithoutKeys), '/v1/3d', { model: '3d-meshy' }),
  ],
  conversations: [
    ...(['openai-xai', 'openai'] as const).flatMap((protocol) => [
      ...[false, true].flatMap((isStreamed) => [
        talk('chat', protocol, isStreamed),
        talk('responses', protocol, isStreamed),
      ]),
      speechCall(protocol),
      embeddingCall(protocol),
      hearingCall('transcription', protocol),
      hearingCall('translation', protocol),
      heardStreamCall(protocol),
    ]),
    talk('messages', 'anthropic', false),
    talk('messages', 'anthropic', true),
    ...(['gemini', 'vertex'] as const).flatMap((protocol) =>
      [false, true].map((isStreamed) => contentsCall(protocol, isStreamed)),
    ),
  ],
};
