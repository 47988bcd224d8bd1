import { JsonSkim } from './json-skim.js';

const COLON = 0x3a;
const SPACE = 0x20;
const LF = 0x0a;
const CR = 0x0d;
/** Longer than the names of the fields that an event has, and than the names of events. */
const MAX_FIELD_BYTES = 200;

/** An event that is too long to be held: its lines are read as they pass, and its data is kept with long texts cut. */
export class LongEvent {
  private readonly skim: JsonSkim;
  /** The line's field and the colon behind it, until that is there. */
  private field: number[] = [];
  private where: 'field' | 'value' | 'data' = 'field';
  /** The one space that may follow the colon is still to come. */
  private isAtValue = false;
  private eventName: number[] = [];
  private lines = 0;

  constructor(clientsModel: string | null) {
    this.skim = new JsonSkim(clientsModel);
  }

  /** @returns what is to be passed on. @throws Error as JsonSkim does */
  push(bytes: Buffer): Buffer {
    const passed: Buffer[] = [];
    for (let at = 0; at < bytes.length;) {
      const end = endOfLine(bytes, at);
      if (this.where === 'data') {
        const from = this.isAtValue && bytes[at] === SPACE ? at + 1 : at;
        this.isAtValue = false;
        passed.push(bytes.subarray(at, from), this.skim.push(bytes.subarray(from, end)));
        at = end;
      } else {
        const next = this.readField(bytes, at, end);
        passed.push(bytes.subarray(at, next));
        at = next;
      }
      if (at === end && end < bytes.length) {
        passed.push(bytes.subarray(end, end + 1));
        at = end + 1;
        this.startLine();
      }
    }
    return Buffer.concat(passed);
  }

  /** Its name and its data, once all of it has come. */
  end(): { event: string | null; data: string | null } {
    const event = Buffer.from(this.eventName).toString().trim();
    const data = this.lines > 0 ? this.skim.skimmed().toString('utf8') : null;
    return { event: event === '' ? null : event, data };
  }

  private readField(bytes: Buffer, start: number, end: number): number {
    for (let at = start; at < end; at += 1) {
      const byte = bytes[at] ?? 0;
      if (this.where === 'value') {
        if (this.fieldName === 'event' && this.eventName.length < MAX_FIELD_BYTES) this.eventName.push(byte);
      } else if (byte !== COLON) {
        if (this.field.length < MAX_FIELD_BYTES) this.field.push(byte);
      } else if (this.fieldName === 'data') {
        // Lines of data are joined by a line feed, which is between two values of JSON or it is none.
        if (this.lines > 0) this.skim.push(Buffer.from('\n'));
        this.lines += 1;
        this.where = 'data';
        this.isAtValue = true;
        return at + 1;
      } else {
        this.where = 'value';
        if (this.fieldName === 'event') this.eventName = [];
      }
    }
    return end;
  }

  private get fieldName(): string {
    return Buffer.from(this.field).toString('latin1');
  }

  private startLine(): void {
    this.where = 'field';
    this.field = [];
    this.isAtValue = false;
  }
}

function endOfLine(bytes: Buffer, from: number): number {
  const [lf, cr] = [bytes.indexOf(LF, from), bytes.indexOf(CR, from)];
  if (lf === -1 || cr === -1) return Math.max(lf, cr) === -1 ? bytes.length : Math.max(lf, cr);
  return Math.min(lf, cr);
}
