import type { CallBody } from '../channel-calls.js';
import type { ImageEditRequest, InputImage } from '../outcomes.js';

/** An edit as the form that OpenAI takes: scalars as text, one picture as `image`, several as `image[]`, and the mask. */
export async function editForm(
  fields: Record<string, unknown>,
  { images, mask }: Pick<ImageEditRequest, 'images' | 'mask'>,
): Promise<CallBody> {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) {
    if (value !== undefined && value !== null) {
      form.append(name, typeof value === 'string' ? value : JSON.stringify(value));
    }
  }
  for (const image of images) form.append(images.length === 1 ? 'image' : 'image[]', ...filePart(image));
  if (mask) form.append('mask', ...filePart(mask));
  // The platform's own encoder chooses a boundary and escapes names.
  const encoded = new Response(form);
  return {
    bytes: Buffer.from(await encoded.arrayBuffer()),
    contentType: encoded.headers.get('content-type') ?? 'multipart/form-data',
  };
}

function filePart({ bytes, mime, name }: InputImage): [Blob, string] {
  return [new Blob([new Uint8Array(bytes)], { type: mime }), name];
}
