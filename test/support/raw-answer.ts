import type { Socket } from 'node:net';

/** Reads an HTTP answer from a socket to its end, and closes the socket. */
export function answerOn(socket: Socket): Promise<string> {
  return new Promise((resolve) => {
    let answer = '';
    socket.on('data', (bytes: Buffer) => {
      answer += bytes.toString('latin1');
      if (isWhole(answer)) socket.destroy();
    });
    socket.once('close', () => resolve(answer));
  });
}

/** False if the answer has no length: then it ends with the connection. */
function isWhole(answer: string): boolean {
  const end = answer.indexOf('\r\n\r\n');
  const length = /\r\ncontent-length: (\d+)/i.exec(answer.slice(0, end))?.[1];
  return end >= 0 && length !== undefined && answer.length >= end + 4 + Number(length);
}
