import type { FastifyReply, FastifyRequest } from 'fastify';
import { networkOf } from '#identity/ip-list.js';

const NAME = 'tollgate_session';

/** The cookie that carries a session's token. It ends with the browser; the session itself ends on the server. */
export class SessionCookie {
  /**
   * Over HTTPS, the prefix of the name makes browsers accept the cookie only from this host, over HTTPS, for all its paths:
   * no other host of the domain can replace it. Over HTTP, browsers would refuse that name.
   */
  readonly name: string;

  /** `secure`: the console is reached over HTTPS, and the cookie is only sent over HTTPS. */
  constructor(private readonly options: { secure: boolean }) {
    this.name = options.secure ? `__Host-${NAME}` : NAME;
  }

  read(request: FastifyRequest): string | undefined {
    return request.cookies[this.name];
  }

  set(reply: FastifyReply, token: string): void {
    void reply.setCookie(this.name, token, this.attributes);
  }

  clear(reply: FastifyReply): void {
    void reply.clearCookie(this.name, this.attributes);
  }

  private get attributes() {
    return { path: '/', httpOnly: true, sameSite: 'lax', secure: this.options.secure } as const;
  }
}

const SENT = new RegExp(`(?:^|;)\\s*(?:__Host-)?${NAME}=([^;]+)`);

/** The token that a request brings, good or not, before its cookies are read. */
export function sentSession({ headers }: Pick<FastifyRequest, 'headers'>): string | undefined {
  return SENT.exec(headers.cookie ?? '')?.[1];
}

/** Whose bodies are counted together: those of one session, and those of one network address. */
export function sendersOf(request: FastifyRequest): string[] {
  const token = sentSession(request);
  const person = token === undefined ? [] : [`session ${token}`];
  return [...person, `address ${networkOf(request.ip)}`];
}
