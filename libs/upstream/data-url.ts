import type { InputImage } from './outcomes.js';

/** A picture inside a JSON body. */
export function dataUrl({ bytes, mime }: InputImage): string {
  return `data:${mime};base64,${bytes.toString('base64')}`;
}
