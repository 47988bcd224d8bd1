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

function at(path: string): RegExp {
  return new RegExp(`^${path}$`);
}

/** Paths that need the vendor's key. */
const routes: readonly Route[] = [
  {
    verb: 'GET',
    path: at('/v1/models'),
    serve: (_, e) => sendJson(e.response, 200, { object: 'list', data: [] }),
  },
  { verb: 'GET', path: at('/v1beta/models'), serve: (_, e) => sendJson(e.response, 200, { models: [] }) },
  { verb: 'POST', path: at('/v1/images/generations'), serve: createImages },
  { verb: 'POST', path: at('/v1/images/edits'), serve: editImages },
  { verb: 'POST', path: at('/v1/videos'), serve: (v, e) => createVideo(v, e, 'openai') },
  { verb: 'POST', path: at('/v1/videos/generations'), serve: (v, e) => createVideo(v, e, 'xai') },
  { verb: 'POST', path: at(`/v1/videos/${ID}/remix`), serve: remixVideo },
  { verb: 'GET', path: at(`/v1/videos/${ID}`), serve: pollVideo },
  { verb: 'GET', path: at(`/v1/videos/${ID}/content`), serve: downloadVideo },
  { verb: 'POST', path: at('/v1/chat/completions'), serve: completeChat },
  { verb: 'POST', path: at('/v1/responses'), serve: respond },
  { verb: 'POST', path: at('/v1/messages'), serve: message },
  { verb: 'POST', path: at('/v1/messages/count_tokens'), serve: countMessage },
  { verb: 'POST', path: at('/v1/audio/speech'), serve: speak },
  { verb: 'POST', path: at('/v1/audio/(?:transcriptions|translations)'), serve: transcribe },
  { verb: 'POST', path: at('/v1/embeddings'), serve: embed },
  { verb: 'POST', path: at(`/v1beta/models/${MODEL}:generateContent`), serve: generateContent },
  { verb: 'POST', path: at(`/v1beta/models/${MODEL}:streamGenerateContent`), serve: streamGenerateContent },
  { verb: 'POST', path: at(`/v1beta/models/${MODEL}:countTokens`), serve: countTokens },
  { verb: 'POST', path: at(`/v1beta/models/${MODEL}:predict`), serve: predict },
  { verb: 'POST', path: at(`/v1beta/models/${MODEL}:predictLongRunning`), serve: predictLongRunning },
  { verb: 'GET', path: at(`/v1beta/models/[\\w.-]{1,100}/operations/${ID}`), serve: pollOperation },
  { verb: 'GET', path: at(`/v1beta/files/${ID}:download`), serve: downloadGoogleFile },
  { verb: 'POST', path: at(`/vertex/v1/${PLACE}${MODEL}:generateContent`), serve: generateContent },
  {
    verb: 'POST',
    path: at(`/vertex/v1/${PLACE}${MODEL}:streamGenerateContent`),
    serve: streamGenerateContent,
  },
  { verb: 'POST', path: at(`/vertex/v1/${PLACE}${MODEL}:countTokens`), serve: countTokens },
  { verb: 'POST', path: at(`/vertex/v1/${PLACE}${MODEL}:predict`), serve: predict },
  { verb: 'POST', path: at(`/vertex/v1/(${PLACE}[\\w.-]{1,100}):predictLongRunning`), serve: startOperation },
  { verb: 'POST', path: at(`/vertex/v1/${PLACE}${MODEL}:fetchPredictOperation`), serve: fetchOperation },
  { verb: 'POST', path: at('/v1/3d/generations'), serve: createMesh },
  { verb: 'GET', path: at(`/v1/3d/generations/${ID}`), serve: pollMesh },
  { verb: 'GET', path: at(`/v1/3d/generations/${ID}/content`), serve: serveMesh },
  {
    verb: 'GET',
    path: at('/meshy/openapi/v1/balance'),
    serve: (_, e) => sendJson(e.response, 200, { balance: 100 }),
  },
  { verb: 'POST', path: at(`/meshy/openapi/(${MESHY_WORK})`), serve: createAtMeshy },
  { verb: 'GET', path: at(`/meshy/openapi/(${MESHY_WORK}/[\\w-]{1,64})`), serve: meshyTask },
  { verb: 'POST', path: at('/fal/((?:[\\w.-]{1,64}/){1,5}[\\w.-]{1,64})'), serve: submitToFal },
  { verb: 'GET', path: at(`/fal/${FAL_REQUEST}/status`), serve: falStatus },
  { verb: 'GET', path: at(`/fal/${FAL_REQUEST}`), serve: falResult },
  { verb: 'PUT', path: at(`/fal/${FAL_REQUEST}/cancel`), serve: cancelAtFal },
  {
    verb: 'GET',
    path: at('/replicate/v1/account'),
    serve: (_, e) => sendJson(e.response, 200, { type: 'user' }),
  },
  {
    verb: 'POST',
    path: at(`/replicate/v1/models/(${MODEL}/${MODEL})/predictions`),
    serve: predictAtReplicate,
  },
  { verb: 'POST', path: at('/replicate/v1/predictions()'), serve: predictAtReplicate },
  { verb: 'GET', path: at(`/replicate/v1/predictions/${ID}`), serve: replicatePrediction },
  { verb: 'POST', path: at(`/replicate/v1/predictions/${ID}/cancel`), serve: cancelAtReplicate },
  { verb: 'GET', path: at('/bfl/v1/credits'), serve: (_, e) => sendJson(e.response, 200, { credits: 100 }) },
  { verb: 'GET', path: at('/bfl/v1/get_result'), serve: bflResult },
  { verb: 'POST', path: at(`/bfl/v1/${MODEL}`), serve: submitToBfl },
  { verb: 'POST', path: at('/ark/v3/images/generations'), serve: createAtArk },
  { verb: 'POST', path: at('/ark/v3/contents/generations/tasks'), serve: createArkTask },
  {
    verb: 'GET',
    path: at('/ark/v3/contents/generations/tasks'),
    serve: (_, e) => sendJson(e.response, 200, { total: 0, items: [] }),
  },
  { verb: 'GET', path: at(`/ark/v3/contents/generations/tasks/${ID}`), serve: arkTask },
  { verb: 'DELETE', path: at(`/ark/v3/contents/generations/tasks/${ID}`), serve: cancelAtArk },
];

/** Paths that need no key, as with the vendors: results, and the exchange of keys. */
const files: readonly Route[] = [
  { verb: 'POST', path: at('/vertex/token'), serve: giveToken },
  {
    verb: 'GET',
    path: at('/fal/\\.well-known/jwks\\.json'),
    serve: (v, e) => sendJson(e.response, 200, v.webhookKeys.keySet),
  },
  { verb: 'GET', path: at('/files/instant\\.png'), serve: serveInstant },
  { verb: 'GET', path: at('/files/images/([\\w.-]+)\\.png'), serve: serveImage },
  { verb: 'GET', path: at('/files/edits/([\\w-]+)\\.png'), serve: serveEdit },
  { verb: 'GET', path: at('/files/videos/([\\w-]+)\\.mp4'), serve: serveVideo },
  { verb: 'GET', path: at('/files/meshes/([\\w-]+)\\.glb'), serve: serveMesh },
];

/** For tests. */
const controls: readonly Route[] = [
  { verb: 'GET', path: at('/_sandbox/stats'), serve: (v, e) => sendJson(e.response, 200, v.stats) },
  { verb: 'GET', path: at('/_sandbox/tasks'), serve: listTasks },
  { verb: 'GET', path: at('/_sandbox/service-account'), serve: showAccount },
  { verb: 'POST', path: at('/_sandbox/webhooks'), serve: setEndpoint },
  { verb: 'POST', path: at('/_sandbox/reset'), serve: reset },
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
