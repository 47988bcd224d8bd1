/** The formats of a transcript. */
export const answerFormats = ['json', 'text', 'srt', 'verbose_json', 'vtt'] as const;
/** The formats that the gateway writes itself. */
export type TextFormat = Exclude<(typeof answerFormats)[number], 'json' | 'verbose_json'>;
/** The units that have timestamps. */
export const granularities = ['word', 'segment'] as const;

interface Cue {
  /** Seconds from the start. */
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** The format requested from the upstream, which must report the length of the audio: plain text does not. */
export function upstreamFormat(format: TextFormat): 'json' | 'verbose_json' {
  return format === 'text' ? 'json' : 'verbose_json';
}

/** Converts an upstream's JSON to the requested format, as OpenAI writes it. */
export function transcriptText(answer: Readonly<Record<string, unknown>>, format: TextFormat): string {
  const text = typeof answer['text'] === 'string' ? answer['text'] : '';
  if (format === 'text') return `${text}\n`;
  const cues = cuesOf(answer, text);
  if (format === 'srt') {
    const lines = cues.map((cue, index) => `${index + 1}\n${times(cue, ',')}\n${cue.text}\n`);
    return lines.join('\n');
  }
  return `WEBVTT\n\n${cues.map((cue) => `${times(cue, '.')}\n${cue.text}\n`).join('\n')}`;
}

/** One per segment, or the whole text at once if there are none. */
function cuesOf(answer: Readonly<Record<string, unknown>>, text: string): Cue[] {
  const { segments, duration } = answer;
  const listed: unknown[] = Array.isArray(segments) ? segments : [];
  const cues = listed.map((each) => {
    const { start, end, text: said } = (each ?? {}) as Record<string, unknown>;
    return { start: Number(start), end: Number(end), text: typeof said === 'string' ? said.trim() : '' };
  });
  const isReadable = cues.length > 0 && cues.every(({ start, end }) => isTime(start) && isTime(end));
  if (isReadable) return cues;
  const end = Number(duration);
  return [{ start: 0, end: isTime(end) ? end : 0, text }];
}

function isTime(seconds: number): boolean {
  return Number.isFinite(seconds) && seconds >= 0;
}

function times({ start, end }: Cue, point: string): string {
  return `${timeOf(start, point)} --> ${timeOf(end, point)}`;
}

/** `00:01:02.500`. */
function timeOf(seconds: number, point: string): string {
  const ms = Math.round(seconds * 1000);
  const [hours, minutes, rest] = [Math.floor(ms / 3_600_000), Math.floor(ms / 60_000) % 60, ms % 60_000];
  const two = (value: number) => String(value).padStart(2, '0');
  return `${two(hours)}:${two(minutes)}:${two(Math.floor(rest / 1000))}${point}${String(rest % 1000).padStart(3, '0')}`;
}
