import { startSandbox } from '#apps/sandbox-upstream/sandbox-server.js';
import { TcpSwitch } from '../tcp-switch.js';
import type { Undo } from './undo.js';

export const SANDBOX_API_KEY = 'sandbox-key';

/** An upstream that programs reach through a switch. */
export interface SwitchedUpstream {
  /** The upstream's real address. */
  url: string;
  way: TcpSwitch;
}

export async function startUpstream(undo: Undo): Promise<SwitchedUpstream> {
  const sandbox = await undo.during(
    () => startSandbox({ apiKey: SANDBOX_API_KEY, imageSeconds: 0, videoSeconds: 0.3 }),
    (started) => started.close(),
  );
  const way = await undo.during(
    () => TcpSwitch.open({ host: '127.0.0.1', port: sandbox.port }),
    (opened) => opened.close(),
  );
  return { url: sandbox.url, way };
}
