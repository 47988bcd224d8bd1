/** After the last spec of a run. */
export default async function teardown() {
  await globalThis.tollgateCluster?.close();
}
