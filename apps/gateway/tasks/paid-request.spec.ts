import { expect, it } from 'vitest';
import type { TaskRequest } from '#tasks/task.js';
import { paidRequest } from './paid-request.js';

const video: TaskRequest = { prompt: 'a paper boat' };
const remix: TaskRequest = { ...video, remix: { videoId: 'ours', upstreamId: 'theirs' } };

it.each([
  { asked: video, ratedBy: ['audio'], audio: true },
  { asked: video, ratedBy: ['resolution'], audio: undefined },
  { asked: { ...video, audio: false }, ratedBy: ['audio'], audio: false },
  { asked: remix, ratedBy: ['audio'], audio: undefined },
] as const)('requests sound if it was priced and can be requested: $asked by $ratedBy', (given) => {
  expect(paidRequest(given.asked, { ratedBy: given.ratedBy }).audio).toBe(given.audio);
});
