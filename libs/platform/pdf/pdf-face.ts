import type PDFDocument from 'pdfkit';
import { type DrawnLetter, drawnLetter } from './pdf-letters.js';
import { type PdfRun, runsOf } from './pdf-text.js';

type Reference = ReturnType<typeof PDFDocument.prototype.ref>;
type Document = InstanceType<typeof PDFDocument>;

interface Style {
  size: number;
  isBold?: boolean | undefined;
}

interface Placed extends Style {
  x: number;
  /** Of the top of the line, in points from the top of the page. */
  y: number;
}

/** Characters of a face in which all are as wide as they are high have this many thousandths. */
const FULL_WIDTH = 1000;
/** The Chinese face has one weight: bold has an outline in the colour of strokes, of this part of its size. */
const OUTLINE = 0.03;
/** Of Helvetica, so that all faces have one baseline. */
const ASCENT = 0.718;

/**
 * Writes lines in PDF's own faces, of which none is in the file: Helvetica, and for what it has no letters for a Chinese face
 * that PDF defines by name (`STSong-Light`), which each reader shows in a Chinese face that it has. A font with all these
 * glyphs would be larger than the rest of what writes the file.
 */
export class PdfFace {
  private readonly han: Reference;
  /** Helvetica in StandardEncoding, which has its accents: plain and bold. */
  private readonly accents: [Reference, Reference];

  constructor(private readonly file: Document) {
    this.han = chineseFace(file);
    this.accents = [standardFace(file, 'Helvetica'), standardFace(file, 'Helvetica-Bold')];
  }

  widthOf(line: string, style: Style): number {
    return runsOf(line).reduce((sum, run) => sum + this.widthOfRun(run, style), 0);
  }

  write(line: string, { x, y, size, isBold = false }: Placed): void {
    let at = x;
    for (const run of runsOf(line)) {
      this.writeRun(run, { x: at, y, size, isBold });
      at += this.widthOfRun(run, { size, isBold });
    }
  }

  private widthOfRun({ text, face }: PdfRun, style: Style): number {
    if (face === 'han') return ([...text].length * style.size * FULL_WIDTH) / 1000;
    if (face === 'western') return this.helvetica(style).widthOfString(text);
    return [...text].reduce((sum, letter) => sum + this.widthOfDrawn(drawnLetter(letter)!, style), 0);
  }

  private writeRun({ text, face }: PdfRun, placed: Placed): void {
    const { x, y } = placed;
    if (face === 'western') this.helvetica(placed).text(text, x, y, { lineBreak: false });
    else if (face === 'han') this.writeHan(text, placed);
    else this.writeDrawn(text, placed);
  }

  private helvetica({ size, isBold = false }: Style): Document {
    return this.file.font(isBold ? 'Helvetica-Bold' : 'Helvetica').fontSize(size);
  }

  private widthOfDrawn({ width: { like, more } }: DrawnLetter, style: Style): number {
    const thousandths = more[style.isBold ? 1 : 0];
    return this.helvetica(style).widthOfString(like) + (thousandths * style.size) / 1000;
  }

  private writeHan(text: string, { x, y, size, isBold = false }: Placed): void {
    const hex = Buffer.from(text, 'utf16le').swap16().toString('hex');
    this.upright(y + size * ASCENT, (baseline) => {
      this.file.page.fonts['Han'] = this.han;
      const weight = isBold ? `2 Tr ${size * OUTLINE} w ` : '';
      return `BT ${weight}/Han ${size} Tf ${x} ${baseline} Td <${hex}> Tj ET`;
    });
  }

  /** Each letter in parts, and as what it is for those who copy it or have it read to them. */
  private writeDrawn(text: string, { x, y, size, isBold = false }: Placed): void {
    const name = isBold ? 'Accents-Bold' : 'Accents';
    this.file.page.fonts[name] = this.accents[isBold ? 1 : 0];
    let at = x;
    for (const letter of text) {
      const drawn = drawnLetter(letter)!;
      const width = this.widthOfDrawn(drawn, { size, isBold });
      this.upright(y + size * ASCENT, (baseline) => {
        const parts = partsOf(drawn, size, this.helvetica({ size, isBold }).widthOfString(drawn.width.like));
        const meaning = Buffer.from(`\ufeff${letter}`, 'utf16le').swap16().toString('hex');
        return `/Span <</ActualText <${meaning}>>> BDC BT /${name} ${size} Tf ${at} ${baseline} Td ${parts} ET EMC`;
      });
      at += width;
    }
  }

  /** Pages are drawn from the top down; text must not be upside down. */
  private upright(y: number, content: (baseline: number) => string): void {
    const { file } = this;
    const { height } = file.page;
    file.save();
    file.transform(1, 0, 0, -1, 0, height);
    file.addContent(content(height - y));
    file.restore();
  }
}

/** The letter, and its accent from where the letter begins. */
function partsOf({ base, accent }: DrawnLetter, size: number, width: number): string {
  const letter = `<${base.toString(16)}> Tj`;
  if (accent === null) return letter;
  const { x, y } = accent.at((width * 1000) / size);
  return `${letter} ${(x * size) / 1000} ${(y * size) / 1000} Td <${accent.code.toString(16)}> Tj`;
}

function standardFace(file: Document, name: 'Helvetica' | 'Helvetica-Bold'): Reference {
  const face = file.ref({ Type: 'Font', Subtype: 'Type1', BaseFont: name, Encoding: 'StandardEncoding' });
  face.end(undefined);
  return face;
}

const SONG = {
  Type: 'FontDescriptor',
  FontName: 'STSong-Light',
  Flags: 6,
  FontBBox: [-25, -254, 1000, 880],
  ItalicAngle: 0,
  Ascent: 880,
  Descent: -120,
  CapHeight: 880,
  StemV: 93,
};

/** By the names that PDF 32000-1, 9.7.5.2 defines. A reader that has no such face shows another, or empty boxes. */
function chineseFace(file: Document): Reference {
  const descriptor = file.ref(SONG);
  const glyphs = file.ref({
    Type: 'Font',
    Subtype: 'CIDFontType0',
    BaseFont: 'STSong-Light',
    CIDSystemInfo: { Registry: new String('Adobe'), Ordering: new String('GB1'), Supplement: 5 },
    FontDescriptor: descriptor,
    DW: FULL_WIDTH,
  });
  const face = file.ref({
    Type: 'Font',
    Subtype: 'Type0',
    BaseFont: 'STSong-Light-UniGB-UTF16-H',
    Encoding: 'UniGB-UTF16-H',
    DescendantFonts: [glyphs],
  });
  for (const part of [descriptor, glyphs, face]) part.end(undefined);
  return face;
}
