import { LongText } from '#platform/http/long-text.js';
import type { InputImage } from './outcomes.js';

/** An image inside a JSON body. Its base64 is encoded while the body is sent. */
export function dataUrl({ bytes, mime }: InputImage): LongText {
  return LongText.dataUrl(mime, bytes);
}
