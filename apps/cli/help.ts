import type { Command, Option } from 'commander';

/** For pipes, and terminals that do not say how wide they are. */
const WIDTH = 80;
/** Descriptions of lists are wrapped too where the names leave them only this. */
const LEAST_WIDTH = 20;

/** Fits the help of a command to the terminal. Commander wraps its own lists only. */
export function fitHelp(command: Command): void {
  for (const option of command.options) nameDefault(option);
  command.configureHelp({ minWidthToWrap: LEAST_WIDTH }).configureOutput({
    writeOut: (text) => process.stdout.write(fittedNotes(text, process.stdout.columns ?? WIDTH)),
  });
}

/** Names a default as people would type it: durations are kept in milliseconds. */
function nameDefault(option: Option): void {
  const { defaultValue: value, flags } = option as { defaultValue: unknown; flags: string };
  if (typeof value === 'number' && flags.endsWith('<seconds>')) option.default(value, String(value / 1000));
  if (Array.isArray(value)) option.default(value, value.join(',') || 'none');
}

/** Breaks paragraphs anew. Indented lines are lists and examples, which stay as they are. */
export function fittedNotes(text: string, width: number): string {
  return text.replaceAll(/(?:^\S.*\n)*^\S.*$/gm, (paragraph) => wrapped(paragraph, width));
}

function wrapped(paragraph: string, width: number): string {
  const lines = [''];
  for (const word of paragraph.split(/\s+/)) {
    const line = lines.at(-1) as string;
    const longer = line === '' ? word : `${line} ${word}`;
    if (line !== '' && longer.length > width) lines.push(word);
    else lines[lines.length - 1] = longer;
  }
  return lines.join('\n');
}
