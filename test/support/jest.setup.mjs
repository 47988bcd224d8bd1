import './sources.mjs';

/** Before the specs of a run: offers them a database cluster, which starts when the first of them asks for it. */
export default async function setup() {
  const { offerCluster } = await import('./cluster.ts');
  globalThis.tollgateCluster = await offerCluster();
}
