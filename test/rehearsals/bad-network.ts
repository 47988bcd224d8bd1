import { tmpdir } from 'node:os';
import { startDatabase } from '../support/outages/database.js';
import type { Rehearsal, Stage } from './rehearsal.js';
import type { TcpSwitch } from '../support/tcp-switch.js';

/** More calls than the pools have connections that could still be silent. */
const CALLS = 40;
const CUTS = 5;

/** The worst network between the programs and the database. */
export const badNetworks: readonly Rehearsal[] = [
  onTheWay({
    name: 'cut',
    fault: `every connection to PostgreSQL cut, ${CUTS} times`,
    isQuick: false,
    hurt: async (way, { load }) => {
      for (let cuts = 1; cuts < CUTS; cuts += 1) {
        way.cut();
        await load.ended(2);
      }
      way.cut();
      return performance.now();
    },
  }),
  onTheWay({
    name: 'silence',
    fault: 'connections to PostgreSQL accepted and never answered',
    isQuick: true,
    hurt: async (way, { load }) => {
      way.silence();
      await load.ended(CALLS);
      way.speak();
      return performance.now();
    },
  }),
  onTheWay({
    name: 'slow',
    fault: '100 ms for each piece of data to and from PostgreSQL',
    isQuick: false,
    hurt: async (way, { load }) => {
      way.delay(100);
      await load.ended(CALLS);
      way.delay(0);
      return performance.now();
    },
  }),
];

interface OnTheWay extends Omit<Rehearsal, 'prepare'> {
  hurt: (way: TcpSwitch, stage: Stage) => Promise<number>;
}

function onTheWay({ hurt, ...rehearsal }: OnTheWay): Rehearsal {
  return {
    ...rehearsal,
    prepare: async (undo) => {
      const { env, way } = await startDatabase(undo, tmpdir());
      return { env, hurt: (stage) => hurt(way, stage) };
    },
  };
}
