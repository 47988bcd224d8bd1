import { dataUrl } from '../data-url.js';
import type { ImageEditRequest, InputImage } from '../outcomes.js';

/** The images of an edit in xAI's JSON body: `image` for one, `images` for several, as data URLs. */
export function editJson({
  images,
  mask,
}: Pick<ImageEditRequest, 'images' | 'mask'>): Record<string, unknown> {
  const parts = images.map(imagePart);
  return {
    ...(parts.length === 1 ? { image: parts[0] } : { images: parts }),
    ...(mask && { mask: imagePart(mask) }),
  };
}

function imagePart(image: InputImage) {
  return { url: dataUrl(image), type: 'image_url' };
}
