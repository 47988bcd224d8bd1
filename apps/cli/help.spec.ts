import { describe, expect, it } from 'vitest';
import type { Command } from 'commander';
import { fittedNotes } from './help.js';
import { program } from './program.js';

describe('the help of the command line', () => {
  it('breaks paragraphs anew, and leaves lists and examples as they are', () => {
    const note = 'One two three\nfour five.\n\nOptions:\n  --long  a line that is much too long for it';
    expect(fittedNotes(note, 10)).toBe(
      'One two\nthree four\nfive.\n\nOptions:\n  --long  a line that is much too long for it',
    );
  });

  it('fits 80 columns, except for examples that can be copied', () => {
    const wide = commandsOf(program()).flatMap((command) => {
      const lines = helpOf(command).split('\n');
      const isExample = (line: string) => /^ +(tollgate |DATA_DIR=|\{|"|export )/.test(line);
      return lines.filter((line) => line.length > 80 && !isExample(line));
    });
    expect(wide).toEqual([]);
  });

  it('names defaults as people would type them', () => {
    const texts = commandsOf(program()).map((command) => helpOf(command).replaceAll(/\s+/g, ' '));
    const defaultsOf = (name: string) =>
      texts.flatMap((text) => text.match(new RegExp(String.raw`--${name} <[^(]*\(default: [^)]*\)`)) ?? []);
    expect(defaultsOf('timeout')).toEqual([
      '--timeout <seconds> how long to wait for an answer (default: 10)',
    ]);
    expect(defaultsOf('multiplier')).toEqual([expect.stringMatching(/\(default: none\)$/)]);
    expect(texts.filter((text) => /<seconds> [^(]*\(default: \d+000\)/.test(text))).toEqual([]);
  });
});

function commandsOf(command: Command): Command[] {
  return [command, ...command.commands.flatMap((each) => commandsOf(each))];
}

function helpOf(command: Command): string {
  let text = '';
  command.configureOutput({ writeOut: (part) => (text += fittedNotes(part, 80)) });
  command.outputHelp();
  return text;
}
