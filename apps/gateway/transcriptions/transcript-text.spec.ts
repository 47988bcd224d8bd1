import { expect, it } from 'vitest';
import { transcriptText } from './transcript-text.js';

const answer = {
  text: 'The light is on. It turns.',
  duration: 3_723.5,
  segments: [
    { start: 0, end: 1.5, text: ' The light is on.' },
    { start: 1.5, end: 3_723.4567, text: ' It turns.' },
  ],
};

it('is subtitles with a cue for each segment', () => {
  expect(transcriptText(answer, 'srt')).toBe(
    '1\n00:00:00,000 --> 00:00:01,500\nThe light is on.\n\n2\n00:00:01,500 --> 01:02:03,457\nIt turns.\n',
  );
  expect(transcriptText(answer, 'vtt')).toBe(
    'WEBVTT\n\n00:00:00.000 --> 00:00:01.500\nThe light is on.\n\n00:00:01.500 --> 01:02:03.457\nIt turns.\n',
  );
});

it.each([{ segments: undefined }, { segments: [{ start: 'x', end: 1, text: 'y' }] }, { segments: [null] }])(
  'is one cue if there are no segments to read: %j',
  (other) => {
    const text = '1\n00:00:00,000 --> 01:02:03,500\nThe light is on. It turns.\n';
    expect(transcriptText({ ...answer, ...other }, 'srt')).toBe(text);
  },
);

it('is the text alone, or nothing if there is none', () => {
  expect(transcriptText(answer, 'text')).toBe('The light is on. It turns.\n');
  expect(transcriptText({}, 'text')).toBe('\n');
});
