import type { FastifyReply } from 'fastify';

export const SESSION_COOKIE = 'tollgate_session';

/** The cookie that carries a session's token. It ends with the browser; the session itself ends on the server. */
export class SessionCookie {
  /** `secure`: the console is reached by https, so the cookie never travels without it. */
  constructor(private readonly options: { secure: boolean }) {}

  set(reply: FastifyReply, token: string): void {
    void reply.setCookie(SESSION_COOKIE, token, {
      path: '/',
      httpOnly: true,
      sameSite: 'lax',
      secure: this.options.secure,
    });
  }

  clear(reply: FastifyReply): void {
    void reply.clearCookie(SESSION_COOKIE, { path: '/' });
  }
}
