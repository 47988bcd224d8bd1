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
