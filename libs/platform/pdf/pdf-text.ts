/** What PDF's own Helvetica can show, by WinAnsiEncoding: the letters of Western Europe. */
const LATIN = /^[\u0020-\u007e\u00a0-\u00ff\u20acŠšŽžŒœŸƒˆ˜‘’‚“”„–—•…†‡‰‹›™]$/;

/** A part of a line in one of the two faces. */
export interface PdfRun {
  text: string;
  isLatin: boolean;
}

/** Splits a line by the face that shows each character. What ends a line or controls it becomes a space. */
export function runsOf(line: string): PdfRun[] {
  const runs: PdfRun[] = [];
  for (const character of line.normalize('NFC').replace(/\p{C}/gu, ' ')) {
    const isLatin = LATIN.test(character);
    const last = runs.at(-1);
    if (last?.isLatin === isLatin) last.text += character;
    else runs.push({ text: character, isLatin });
  }
  return runs;
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
