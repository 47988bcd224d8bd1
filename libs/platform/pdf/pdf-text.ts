import { drawnLetter } from './pdf-letters.js';

/** What PDF's own Helvetica can show, by WinAnsiEncoding: the letters of Western Europe. */
const WESTERN = /^[\u0020-\u007e\u00a0-\u00ff\u20acŠšŽžŒœŸƒˆ˜‘’‚“”„–—•…†‡‰‹›™]$/;

/** Helvetica, Helvetica with letters that are drawn of parts, and the Chinese face. */
type PdfFaceName = 'western' | 'drawn' | 'han';

/** A part of a line in one face. */
export interface PdfRun {
  text: string;
  face: PdfFaceName;
}

/** Splits a line by the face that shows each character. What ends a line or controls it becomes a space. */
export function runsOf(line: string): PdfRun[] {
  const runs: PdfRun[] = [];
  for (const character of line.normalize('NFC').replace(/\p{C}/gu, ' ')) {
    const face = faceOf(character);
    const last = runs.at(-1);
    if (last?.face === face) last.text += character;
    else runs.push({ text: character, face });
  }
  return runs;
}

function faceOf(character: string): PdfFaceName {
  if (WESTERN.test(character)) return 'western';
  return drawnLetter(character) ? 'drawn' : 'han';
}

/** Breaks a text into lines that fit: between words where there are any, else anywhere. */
export function linesOf(text: string, width: number, widthOf: (line: string) => number): string[] {
  const lines: string[] = [];
  for (const paragraph of text.split(/\r?\n/)) {
    let line = '';
    for (const character of paragraph) {
      if (widthOf(line + character) <= width || line === '') {
        line += character;
        continue;
      }
      const space = line.lastIndexOf(' ');
      const end = space > 0 ? space : line.length;
      lines.push(line.slice(0, end));
      line = line.slice(end).trimStart() + character;
    }
    lines.push(line);
  }
  return lines;
}
