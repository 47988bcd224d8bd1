import type PDFDocument from 'pdfkit';
import { runsOf } from './pdf-text.js';

type Reference = ReturnType<typeof PDFDocument.prototype.ref>;
type Document = InstanceType<typeof PDFDocument>;

export interface Placed {
  x: number;
  /** Of the top of the line, in points from the top of the page. */
  y: number;
  size: number;
  isBold?: boolean;
}

/** Characters of a face in which all are as wide as they are high have this many thousandths. */
const FULL_WIDTH = 1000;
/** Of Helvetica, so that both faces have one baseline. */
const ASCENT = 0.718;
const NAME = 'Han';

/**
 * Writes lines in PDF's own faces, of which none is in the file: Helvetica, and for everything else a Chinese face that PDF
 * defines by name (`STSong-Light`), which each reader shows in a Chinese face that it has. A font with Chinese glyphs would
 * be larger than the rest of what writes the file.
 */
export class PdfFace {
  private readonly han: Reference;

  constructor(private readonly file: Document) {
    this.han = chineseFace(file);
  }

  widthOf(line: string, { size, isBold }: Pick<Placed, 'size' | 'isBold'>): number {
    this.latin({ size, isBold });
    return runsOf(line).reduce(
      (sum, { text, isLatin }) =>
        sum + (isLatin ? this.file.widthOfString(text) : ([...text].length * size * FULL_WIDTH) / 1000),
      0,
    );
  }

  write(line: string, { x, y, size, isBold = false }: Placed): void {
    let at = x;
    for (const { text, isLatin } of runsOf(line)) {
      if (isLatin) {
        this.latin({ size, isBold });
        this.file.text(text, at, y, { lineBreak: false });
        at += this.file.widthOfString(text);
      } else {
        this.writeHan(text, { x: at, y, size });
        at += [...text].length * size;
      }
    }
  }

  private latin({ size, isBold = false }: { size: number; isBold?: boolean | undefined }): void {
    this.file.font(isBold ? 'Helvetica-Bold' : 'Helvetica').fontSize(size);
  }

  /** Pages are drawn from the top down; text must not be upside down. */
  private writeHan(text: string, { x, y, size }: Placed): void {
    const { file } = this;
    const { page } = file;
    page.fonts[NAME] = this.han;
    const bytes = Buffer.from(text, 'utf16le').swap16().toString('hex');
    const baseline = page.height - y - size * ASCENT;
    file.save();
    file.transform(1, 0, 0, -1, 0, page.height);
    file.addContent(`BT /${NAME} ${size} Tf ${x} ${baseline} Td <${bytes}> Tj ET`);
    file.restore();
  }
}

/** By the names that PDF 32000-1, 9.7.5.2 defines. A reader that has no such face shows another, or empty boxes. */
function chineseFace(file: Document): Reference {
  const descriptor = file.ref({
    Type: 'FontDescriptor',
    FontName: 'STSong-Light',
    Flags: 6,
    FontBBox: [-25, -254, 1000, 880],
    ItalicAngle: 0,
    Ascent: 880,
    Descent: -120,
    CapHeight: 880,
    StemV: 93,
  });
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
