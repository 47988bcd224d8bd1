import { apiFamilyOf, VendorRefusal, sendJson, WRONG_KEY } from './answers.js';
import { completeChat } from './chat.js';
import { countTokens, generateContent, streamGenerateContent } from './contents.js';
import { embed } from './embeddings.js';
import { editImages, serveEdit } from './edits.js';
import { downloadGoogleFile, pollOperation, predict, predictLongRunning } from './google.js';
import { createImages, instantPng, serveImage } from './images.js';
import { createMesh, pollMesh, serveMesh } from './meshes.js';
import { countMessage, message } from './messages.js';
import { respond } from './responses.js';
import { speak } from './sound/speech.js';
import { transcribe } from './sound/transcripts.js';
import { arkTask, cancelAtArk, createArkTask, createAtArk } from './polled/ark.js';
import { bflResult, submitToBfl } from './polled/bfl.js';
import { cancelAtFal, falResult, falStatus, submitToFal } from './polled/fal.js';
import { createAtMeshy, meshyTask } from './polled/meshy.js';
import { cancelAtReplicate, predictAtReplicate, replicatePrediction } from './polled/replicate.js';
import { type Exchange, newStats, type Vendor } from './vendor.js';
import { endOf, stateAt, type VideoTask } from './vendor-tasks.js';
import { giveToken, showAccount } from './vertex/tokens.js';
import { fetchOperation, startOperation } from './vertex/vertex.js';
import { createVideo, downloadVideo, pollVideo, remixVideo, serveVideo } from './videos.js';
import { setEndpoint } from './webhooks/task-webhooks.js';

interface Route {
  verb: 'GET' | 'POST' | 'PUT' | 'DELETE';
  path: RegExp;
  /** `first` is the path's first group. */
  serve(vendor: Vendor, exchange: Exchange, first: string): void | Promise<void>;
}

const ID = '([\\w-]{1,64})';
const MODEL = '([\\w.-]{1,100})';
/** Of a project and a location, which Google's URLs name. */
const PLACE = 'projects/sandbox-project/locations/[a-z0-9-]{1,40}/publishers/google/models/';
const MESHY_WORK = '(?:v2/text-to-3d|v1/image-to-3d|v1/multi-image-to-3d|v1/retexture)';
const FAL_REQUEST = `([\\w.-]{1,64}/[\\w.-]{1,64}/requests/[\\w-]{1,64})`;

function route(verb: Route['verb']) {
  return (path: string, serve: Route['serve']): Route => ({ verb, path: new RegExp(`^${path}$`), serve });
}

const get = route('GET');
const post = route('POST');
const put = route('PUT');
const remove = route('DELETE');

/** Paths that need the vendor's key. */
const routes: readonly Route[] = [
  get('/v1/models', (_, e) => sendJson(e.response, 200, { object: 'list', data: [] })),
  get('/v1beta/models', (_, e) => sendJson(e.response, 200, { models: [] })),
  post('/v1/images/generations', createImages),
  post('/v1/images/edits', editImages),
  post('/v1/videos', (v, e) => createVideo(v, e, 'openai')),
  post('/v1/videos/generations', (v, e) => createVideo(v, e, 'xai')),
  post(`/v1/videos/${ID}/remix`, remixVideo),
  get(`/v1/videos/${ID}`, pollVideo),
  get(`/v1/videos/${ID}/content`, downloadVideo),
  post('/v1/chat/completions', completeChat),
  post('/v1/responses', respond),
  post('/v1/messages', message),
  post('/v1/messages/count_tokens', countMessage),
  post('/v1/audio/speech', speak),
  post('/v1/audio/(?:transcriptions|translations)', transcribe),
  post('/v1/embeddings', embed),
  post(`/v1beta/models/${MODEL}:generateContent`, generateContent),
  post(`/v1beta/models/${MODEL}:streamGenerateContent`, streamGenerateContent),
  post(`/v1beta/models/${MODEL}:countTokens`, countTokens),
  post(`/v1beta/models/${MODEL}:predict`, predict),
  post(`/v1beta/models/${MODEL}:predictLongRunning`, predictLongRunning),
  get(`/v1beta/models/[\\w.-]{1,100}/operations/${ID}`, pollOperation),
  get(`/v1beta/files/${ID}:download`, downloadGoogleFile),
  post(`/vertex/v1/${PLACE}${MODEL}:generateContent`, generateContent),
  post(`/vertex/v1/${PLACE}${MODEL}:streamGenerateContent`, streamGenerateContent),
  post(`/vertex/v1/${PLACE}${MODEL}:countTokens`, countTokens),
  post(`/vertex/v1/${PLACE}${MODEL}:predict`, predict),
  post(`/vertex/v1/(${PLACE}[\\w.-]{1,100}):predictLongRunning`, startOperation),
  post(`/vertex/v1/${PLACE}${MODEL}:fetchPredictOperation`, fetchOperation),
  post('/v1/3d/generations', createMesh),
  get(`/v1/3d/generations/${ID}`, pollMesh),
  get(`/v1/3d/generations/${ID}/content`, serveMesh),
  get('/meshy/openapi/v1/balance', (_, e) => sendJson(e.response, 200, { balance: 100 })),
  post(`/meshy/openapi/(${MESHY_WORK})`, createAtMeshy),
  get(`/meshy/openapi/(${MESHY_WORK}/[\\w-]{1,64})`, meshyTask),
  post('/fal/((?:[\\w.-]{1,64}/){1,5}[\\w.-]{1,64})', submitToFal),
  get(`/fal/${FAL_REQUEST}/status`, falStatus),
  get(`/fal/${FAL_REQUEST}`, falResult),
  put(`/fal/${FAL_REQUEST}/cancel`, cancelAtFal),
  get('/replicate/v1/account', (_, e) => sendJson(e.response, 200, { type: 'user' })),
  post(`/replicate/v1/models/(${MODEL}/${MODEL})/predictions`, predictAtReplicate),
  post('/replicate/v1/predictions()', predictAtReplicate),
  get(`/replicate/v1/predictions/${ID}`, replicatePrediction),
  post(`/replicate/v1/predictions/${ID}/cancel`, cancelAtReplicate),
  get('/bfl/v1/credits', (_, e) => sendJson(e.response, 200, { credits: 100 })),
  get('/bfl/v1/get_result', bflResult),
  post(`/bfl/v1/${MODEL}`, submitToBfl),
  post('/ark/v3/images/generations', createAtArk),
  post('/ark/v3/contents/generations/tasks', createArkTask),
  get('/ark/v3/contents/generations/tasks', (_, e) => sendJson(e.response, 200, { total: 0, items: [] })),
  get(`/ark/v3/contents/generations/tasks/${ID}`, arkTask),
  remove(`/ark/v3/contents/generations/tasks/${ID}`, cancelAtArk),
];

/** Paths that need no key, as with the vendors: results, and the exchange of keys. */
const files: readonly Route[] = [
  post('/vertex/token', giveToken),
  get('/fal/\\.well-known/jwks\\.json', (v, e) => sendJson(e.response, 200, v.webhookKeys.keySet)),
  get('/files/instant\\.png', serveInstant),
  get('/files/images/([\\w.-]+)\\.png', serveImage),
  get('/files/edits/([\\w-]+)\\.png', serveEdit),
  get('/files/videos/([\\w-]+)\\.mp4', serveVideo),
  get('/files/meshes/([\\w-]+)\\.glb', serveMesh),
];

/** For tests. */
const controls: readonly Route[] = [
  get('/_sandbox/stats', (v, e) => sendJson(e.response, 200, v.stats)),
  get('/_sandbox/tasks', listTasks),
  get('/_sandbox/service-account', showAccount),
  post('/_sandbox/webhooks', setEndpoint),
  post('/_sandbox/reset', reset),
];

const OPEN = /^\/(files|_sandbox|fal\/\.well-known)\/|^\/vertex\/token$/;

/** @throws VendorRefusal, also for unknown paths. */
export async function routeExchange(vendor: Vendor, exchange: Exchange): Promise<void> {
  const { method = '', url = '' } = exchange.request;
  const [path = ''] = url.split('?');
  const isOpen = OPEN.test(path);
  if (!isOpen) authorise(vendor, exchange, path);
  const verb = method === 'HEAD' ? 'GET' : method;
  for (const each of isOpen ? [...files, ...controls] : routes) {
    const match = each.verb === verb ? each.path.exec(path) : null;
    if (match) return each.serve(vendor, exchange, match[1] ?? '');
  }
  throw new VendorRefusal(404, 'unknown_url', `There is nothing at ${method} ${path}.`);
}

/** Each family has its own header for the key. Google's also accepts it in the query. */
function authorise({ settings, accounts }: Vendor, { request }: Exchange, path: string): void {
  const family = apiFamilyOf(path);
  const { headers, url = '' } = request;
  const [scheme = '', token] = (headers.authorization ?? '').split(' ');
  const bearer = scheme.toLowerCase() === 'bearer' ? token : undefined;
  const isAccount = family === 'vertex' && accounts.isGood(bearer);
  const inQuery = new URLSearchParams(url.split('?')[1]).get('key');
  const keys: (string | string[] | null | undefined)[] = {
    // Two families list their models at the same path.
    openai: path === '/v1/models' ? [bearer, headers['x-api-key']] : [bearer],
    anthropic: [headers['x-api-key'], bearer],
    google: [headers['x-goog-api-key'], inQuery],
    fal: [scheme === 'Key' ? token : undefined],
    replicate: [bearer],
    bfl: [headers['x-key']],
    meshy: [bearer],
    vertex: [],
  }[family];
  if (isAccount || keys.includes(settings.apiKey)) return;
  throw new VendorRefusal(401, WRONG_KEY, 'The key is missing or wrong.');
}

function serveInstant(vendor: Vendor, { response }: Exchange): void {
  vendor.stats.downloads += 1;
  response.writeHead(200, { 'content-type': 'image/png', 'content-length': instantPng.length });
  response.end(instantPng);
}

function reset(vendor: Vendor, { request, response }: Exchange): void {
  request.resume();
  vendor.videos.clear();
  vendor.meshes.clear();
  vendor.jobs.clear();
  vendor.kept.clear();
  vendor.downloadsOf.clear();
  vendor.renderer.clear();
  Object.assign(vendor.stats, newStats());
  sendJson(response, 200, vendor.stats);
}

/** A list of tasks is for reading by tests: the newest of them are enough, unless `?limit=` asks for more. */
const LISTED_TASKS = 1_000;

function listTasks({ videos, meshes, jobs, clock }: Vendor, { request, response }: Exchange): void {
  const nowMs = clock.nowMs();
  const limit = new URLSearchParams(request.url?.split('?')[1]).get('limit');
  const tasks = [
    ...videos.list().map((task) => ({ ...task, seconds: task.drawing.seconds })),
    ...meshes.list().map((task) => ({ ...task, dialect: `3d ${task.mode}`, seconds: null })),
    ...jobs.list().map((task) => ({ ...task, dialect: 'image', seconds: null })),
  ];
  const listed = tasks.slice(-(Number(limit) || LISTED_TASKS)).map((task) => ({
    id: task.id,
    dialect: task.dialect,
    model: task.model,
    prompt: task.prompt,
    seconds: task.seconds,
    audio: (task as Partial<VideoTask>).audio ?? null,
    createdAt: new Date(task.createdAtMs).toISOString(),
    endsAt: new Date(endOf(task)).toISOString(),
    idempotencyKey: task.idempotencyKey,
    remixOf: (task as Partial<VideoTask>).remixOf ?? null,
    spoiledPolls: task.spoiledPolls,
    ...stateAt(task, nowMs),
  }));
  sendJson(response, 200, { tasks: listed });
}
