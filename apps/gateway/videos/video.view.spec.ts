import { describe, expect, it } from 'vitest';
import { parseAmount } from '#money/amount.js';
import type { ViewedTask } from '../tasks/task.view.js';
import { videoView } from './video.view.js';

const task: ViewedTask = {
  kind: 'video',
  deletedAtMs: null,
  id: '01jcq3v8w1f5p6k7m8n9q0r1s2',
  dialect: 'openai',
  state: 'submitted',
  requestedModel: 'vendora-imagine-video',
  request: { prompt: 'a paper boat' },
  seconds: 5,
  heldAmount: parseAmount('0.25'),
  progress: 0,
  errorCode: null,
  errorMessage: null,
  createdAtMs: 1_767_225_600_900,
  endedAtMs: null,
  expiresAtMs: null,
};
const over = { state: 'completed', endedAtMs: 1_767_225_660_000, expiresAtMs: 1_767_227_160_000 } as const;

describe('a video as a client sees it', () => {
  it.each([
    ['created', 0, 'queued', 'pending'],
    ['submitting', 0, 'queued', 'pending'],
    ['unknown', 0, 'queued', 'pending'],
    ['submitted', 0, 'queued', 'pending'],
    ['submitted', 40, 'in_progress', 'pending'],
    ['completed', 90, 'completed', 'done'],
    ['failed', 40, 'failed', 'failed'],
  ] as const)('says %s at %d %% in the words of the path that created it', (state, progress, openai, xai) => {
    expect(videoView({ ...task, state, progress }, null).status).toBe(openai);
    expect(videoView({ ...task, state, progress, dialect: 'xai' }, null).status).toBe(xai);
  });

  it('has the types that clients’ schemas require', () => {
    expect(videoView({ ...task, ...over }, 'https://host/v1/videos/x/content?sig=1')).toEqual({
      id: task.id,
      task_id: task.id,
      request_id: task.id,
      object: 'video',
      model: 'vendora-imagine-video',
      status: 'completed',
      progress: 100,
      created_at: 1_767_225_600,
      completed_at: 1_767_225_660,
      expires_at: 1_767_227_160,
      seconds: '5',
      size: null,
      resolution: null,
      aspect_ratio: null,
      generate_audio: null,
      prompt: 'a paper boat',
      remixed_from_video_id: null,
      error: null,
      usage: { cost_in_usd_ticks: 2_500_000_000 },
      video: { url: 'https://host/v1/videos/x/content?sig=1', duration: 5, respect_moderation: true },
    });
  });

  it('costs nothing and says why if it failed', () => {
    const failed = {
      ...task,
      state: 'failed',
      errorCode: 'generation_failed',
      errorMessage: 'It failed.',
    } as const;
    expect(videoView(failed, null)).toMatchObject({
      error: { code: 'generation_failed', message: 'It failed.' },
      usage: { cost_in_usd_ticks: 0 },
      completed_at: null,
    });
  });

  it('has no video object as long as there is no file to offer', () => {
    expect(videoView(task, null)).not.toHaveProperty('video');
    expect(videoView({ ...task, ...over }, null)).not.toHaveProperty('video');
  });
});
