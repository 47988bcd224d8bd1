import { type AskedSetting, type ConfigReader, settingsOf } from '../config.js';
import { passwordOf } from './setting.js';

const WIDTH = 110;

export interface ProgramHelp {
  /** What the program does, in one line. */
  about: string;
  usage: string;
  /** Reads all that the program asks for. */
  read: (reader: ConfigReader) => unknown;
}

/** The text of --help: every variable that the program reads, with its meaning and what holds without it. */
export function helpOf({ about, usage, read }: ProgramHelp): string {
  return `${about}

Usage: ${usage}

Environment:
${settingsHelp(settingsOf(read))}

To read a secret from a file, set NAME_FILE to its path, for example DATABASE_PASSWORD_FILE.
On SIGTERM and SIGINT, the program finishes what is in progress, then exits. Exit codes: 0 stopped, 1 failed.
`;
}

/** Two columns: names, and what they mean. */
export function settingsHelp(settings: readonly AskedSetting[]): string {
  const column = Math.max(...settings.map(({ name }) => name.length)) + 4;
  return settings
    .map((setting) => {
      const lines = wrapped(meaningOf(setting), WIDTH - column);
      return `  ${setting.name.padEnd(column - 2)}${lines.join(`\n${' '.repeat(column)}`)}`;
    })
    .join('\n');
}

function meaningOf({ name, about, isLogin, fallback }: AskedSetting): string {
  const password = isLogin ? `; its password may be in ${passwordOf(name)}` : '';
  const shown = fallback === undefined ? '' : ` (${fallback})`;
  return `${about.replaceAll('`', '')}${password}${shown}`;
}

function wrapped(text: string, width: number): string[] {
  const lines: string[] = [''];
  for (const word of text.split(' ')) {
    const line = lines.at(-1) as string;
    if (line !== '' && line.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`;
  }
  return lines;
}
