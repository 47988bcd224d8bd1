import type { CallBody } from '../channel-calls.js';
import type { ImageEditRequest, InputImage } from '../outcomes.js';
import { writtenForm } from '../written-form.js';

/** An edit as a form for OpenAI: one image as `image`, several as `image[]`, and the mask. */
export function editForm(
  fields: Record<string, unknown>,
  { images, mask }: Pick<ImageEditRequest, 'images' | 'mask'>,
): CallBody {
  const field = images.length === 1 ? 'image' : 'image[]';
  const file = ({ bytes, ...rest }: InputImage) => ({ ...rest, pieces: [bytes] });
  return writtenForm(fields, [
    ...images.map((image) => [field, file(image)] as const),
    ...(mask ? [['mask', file(mask)] as const] : []),
  ]);
}
