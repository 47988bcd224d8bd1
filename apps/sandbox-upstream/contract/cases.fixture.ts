import type { Capability } from '#upstream/protocol.js';

/** One thing that can happen to a call, and the outcome that every protocol's adapter must give. */
export interface ContractCase {
  name: string;
  /** A fault of the sandbox, or a word known to the driver of the operation. */
  happens: string;
  /** The outcome, as worded by `outcome-text.fixture.ts`. */
  outcome: string;
}

type CaseTable = ReadonlyMap<string, ContractCase>;

/** Reads `name | what happens | outcome`, one case per line. */
function table(text: string): CaseTable {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return new Map(
    lines.map((line) => {
      const [name = '', happens = '', outcome = ''] = line.split('|').map((cell) => cell.trim());
      return [name, { name, happens, outcome }];
    }),
  );
}

/** What refuses any call that may cost money, before any work was done. */
const turnedAway = `
  refused             | reject-400     | refused 400 upstream_rejected
  refused input       | reject-422     | refused 422 upstream_rejected
  refused type        | reject-415     | refused 415 unsupported_media_type
  endless reason      | endless-reason | refused 400 upstream_rejected
  moderation          | moderation     | refused 400 content_policy_violation
  wrong key           | wrong-key      | not accepted 401
  key turned away     | reject-401     | not accepted 401
  no permission       | reject-403     | not accepted 403
  model not there     | reject-404     | not accepted 404
  rate limit          | reject-429     | not accepted 429
  key that must rest  | two-keys       | not accepted 429, the other key is next
  vendor's fault      | reject-500     | not accepted 500
  unavailable         | reject-503     | not accepted 503
  strange status      | reject-529     | unclear 529
  error for a success | error-200      | unclear 200
  answer lost         | accept-then-timeout | unclear without an answer`;

const images = table(`
  made                | nothing        | delivered 2 image/png
  partial             | partial        | delivered 1 image/png
  ${turnedAway}
  a proxy's fault     | proxy-502      | another channel, unless a task was asked for
  late failure        | fail-late      | not accepted 500
  never finished      | never-finish   | unclear without an answer
  slow bytes          | slow-bytes     | delivered 2 image/png
  broken answer       | truncated      | unclear 200
  polled too often    | poll-429       | delivered 2 image/png
  another's state     | another-id     | delivered 2 image/png
  end before result   | early-end      | not applicable
  late file           | late-file      | delivered 2 image/png
  file that is none   | bad-file       | delivered 2, not downloadable
  expired file        | expired        | delivered 2, not downloadable`);

/** Videos and 3D assets. What a poll gets before the end comes first. */
const taskCases = `
  made                | nothing        | running, completed, the file
  ${turnedAway}
  a proxy's fault     | proxy-502      | unclear 502
  lost, then repeated | repeat         | unclear, then the same task
  late failure        | fail-late      | failed generation_failed
  never finished      | never-finish   | running
  given up            | give-up        | not to be cancelled
  unknown status      | unknown-status | no answer, completed, the file
  broken polls        | poll-5xx       | no answer, completed, the file
  polled too often    | poll-429       | no answer, completed, the file
  another's state     | another-id     | no answer, completed, the file
  end before result   | early-end      | not applicable
  another last word   | done-word      | completed, the file
  unknown task        | unknown-task   | no answer
  slow bytes          | slow-bytes     | completed, the file
  broken file         | truncated      | completed, not downloadable
  file that is none   | bad-file       | completed, another file
  expired file        | expired        | completed, not downloadable`;
const tasks = table(taskCases);
/** All other cases use videos with sound. */
const silentVideos = table('made | nothing | without sound, running, completed, the file');

/** A remix of an earlier video, which the vendor must still have. */
const remixes = table(`${taskCases}
  video not there     | unknown-video  | refused 400 video_not_remixable
  model not there     | reject-404     | refused 400 video_not_remixable`);

/** Passed through unread: only its reader sees that it is not an answer. */
const conversations = table(`
  streamed            | nothing        | 50 tokens reported, 3 cached, to its end
  whole               | whole          | 20 tokens reported
  ${turnedAway}
  error for a success | error-200      | application/json for a stream
  late failure        | fail-late      | not accepted 500
  nothing reported    | no-usage       | counted by its text, to its end
  cut off             | stream-cut     | counted by its text, broken off
  failed on the way   | mid-stream-error | failed on the way
  given up            | leave          | cancelled at the vendor
  body given up       | drop           | cancelled at the vendor`);

/** A streamed image. The outcome is known at the last event. */
const imageEvents = table(`
  streamed            | nothing        | 2 partial, then the image, 472 tokens reported
  ${turnedAway}
  error for a success | error-200      | application/json for a stream
  late failure        | fail-late      | not accepted 500
  nothing reported    | no-usage       | 2 partial, then the image, nothing reported
  cut off             | stream-cut     | 2 partial, broken off
  failed on the way   | mid-stream-error | 2 partial, failed on the way`);

const answers = table(`
  made                | nothing        | answered
  ${turnedAway}
  error for a success | error-200      | another answer
  late failure        | fail-late      | not accepted 500
  never finished      | never-finish   | unclear without an answer
  slow bytes          | slow-bytes     | answered
  broken answer       | truncated      | broken off`);

const counts = table(`
  counted             | nothing        | counted
  refused             | reject-400     | refused 400 upstream_rejected
  endless reason      | endless-reason | refused 400 upstream_rejected
  error for a success | error-200      | unclear 200
  wrong key           | wrong-key      | not accepted 401
  rate limit          | reject-429     | not accepted 429
  unavailable         | reject-503     | not accepted 503`);

/** Every case of every operation. Differences of a protocol are in `vendors.ts`. */
export const casesOf: Readonly<Record<Capability, CaseTable>> = {
  images,
  imageEdits: images,
  maskedEdits: images,
  imageStream: imageEvents,
  editStream: imageEvents,
  videos: tasks,
  silentVideos,
  videoRemixes: remixes,
  assets3d: tasks,
  chat: conversations,
  responses: conversations,
  messages: conversations,
  contents: conversations,
  speech: answers,
  transcription: answers,
  translation: answers,
  embeddings: answers,
  messagesCount: counts,
  contentsCount: counts,
};
