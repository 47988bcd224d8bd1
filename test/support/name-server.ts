import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';

/** A loopback address that no other process's name server uses. */
const HOST = `127.77.${(process.pid >> 8) & 255}.${process.pid & 255}`;
/** The only port that the system's resolver asks. */
const SYSTEM_PORT = 53;
const HEADER_BYTES = 12;
const ADDRESS_TYPE = 1;
const ANSWERED = 0x8180;
const NO_SUCH_NAME = 3;
/** The answer record: the question's name, type A, class IN, no caching, four bytes: 127.0.0.1. */
const LOOPBACK = Buffer.from('c00c000100010000000000047f000001', 'hex');

/** A name server for the programs of a test. It resolves some names to the loopback address. */
export class NameServer {
  private isSilent = false;

  private constructor(
    private readonly socket: Socket,
    private readonly names: readonly string[],
  ) {
    socket.on('message', (query, { port, address }) => {
      if (!this.isSilent) socket.send(this.answerTo(query), port, address);
    });
  }

  /**
   * @param port 0: any
   * @throws Error if a port below 1024 is not available
   */
  static async open(names: readonly string[], port = SYSTEM_PORT): Promise<NameServer> {
    const socket = createSocket('udp4').bind(port, HOST);
    await once(socket, 'listening');
    return new NameServer(socket, names);
  }

  /** With its port, for a resolver that can ask any. */
  get address(): string {
    return `${HOST}:${this.socket.address().port}`;
  }

  /** The content of /etc/resolv.conf that uses this server. */
  get configuration(): string {
    return `nameserver ${HOST}\n`;
  }

  /** Stops answering, as if the server were unreachable. */
  silence(): void {
    this.isSilent = true;
  }

  speak(): void {
    this.isSilent = false;
  }

  async close(): Promise<void> {
    this.socket.close();
    await once(this.socket, 'close');
  }

  private answerTo(query: Buffer): Buffer {
    const { name, end } = questionOf(query);
    const isKnown = this.names.includes(name);
    const hasAnswer = isKnown && query.readUInt16BE(end - 4) === ADDRESS_TYPE;
    const header = Buffer.alloc(HEADER_BYTES);
    header.writeUInt16BE(query.readUInt16BE(0), 0);
    header.writeUInt16BE(isKnown ? ANSWERED : ANSWERED | NO_SUCH_NAME, 2);
    header.writeUInt16BE(1, 4);
    header.writeUInt16BE(hasAnswer ? 1 : 0, 6);
    return Buffer.concat([header, query.subarray(HEADER_BYTES, end), ...(hasAnswer ? [LOOPBACK] : [])]);
  }
}

/** The name in the question, and where the question ends, after its type and class. */
function questionOf(query: Buffer): { name: string; end: number } {
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), end: at + 5 };
}
