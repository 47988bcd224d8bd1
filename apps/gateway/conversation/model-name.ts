import { JsonSkim } from '#upstream/long/json-skim.js';

/** The bytes of an event, whose JSON has the client's name of the model instead of the upstream's. */
export function withModel(bytes: Buffer, name: string): Buffer {
  const start = bytes.indexOf('{');
  if (start === -1) return bytes;
  const skim = new JsonSkim(name);
  const passed = skim.push(bytes.subarray(start));
  return skim.isInText ? bytes : Buffer.concat([bytes.subarray(0, start), passed]);
}
