import { describe, expect, it } from 'vitest';
import type { CatalogModel } from '#catalog/catalog.js';
import { fitToModel, readVideoCreation } from './video-request.js';

const base = { model: 'm', prompt: 'p' };
const model: CatalogModel = {
  id: 'm',
  family: 'video',
  unit: 'second',
  ownedBy: 'vendora',
  aliasOf: null,
  enabled: true,
  limits: { defaultSeconds: 5, minSeconds: 1, maxSeconds: 15, resolutions: ['480p', '720p'] },
  routing: 'priority',
  created: 0,
};
const fitted = (body: object) => fitToModel(readVideoCreation({ ...base, ...body }), model);

describe('a request for a video', () => {
  it.each([
    [{}, 5],
    [{ seconds: '4' }, 4],
    [{ duration: 7 }, 7],
    [{ duration: '7' }, 7],
    [{ duration: 7.0, seconds: '7' }, 7],
    [{ seconds: '8.0' }, 8],
    [{ seconds: null, duration: null }, 5],
  ])('reads the seconds of %j', (body, seconds) => {
    expect(fitted(body).seconds).toBe(seconds);
  });

  it.each([
    [{ seconds: 4 }, 'invalid_type'],
    [{ seconds: '4', duration: 5 }, 'invalid_value'],
    [{ duration: 2.5 }, 'invalid_value'],
    [{ duration: 1e21 }, 'invalid_value'],
    [{ seconds: '1e1' }, 'invalid_value'],
    [{ seconds: '0x5' }, 'invalid_value'],
    [{ seconds: '16' }, 'invalid_value'],
    [{ generate_audio: 'no' }, 'invalid_type'],
  ])('refuses %j', (body, code) => {
    expect(() => fitted(body)).toThrow(expect.objectContaining({ code }));
  });

  it.each([
    [{ duration: 0 }, 'duration'],
    [{ duration: '16' }, 'duration'],
    [{ seconds: '0' }, 'seconds'],
    [{ duration: 16, seconds: '16' }, 'seconds'],
  ])('names the wrong field in %j', (body, param) => {
    expect(() => fitted(body)).toThrow(expect.objectContaining({ code: 'invalid_value', param }));
  });

  it.each([
    ['720x1280', '720p', '9:16'],
    ['1280x720', '720p', '16:9'],
    ['854x480', '480p', '16:9'],
    ['640x480', '480p', '4:3'],
  ])('derives resolution and aspect ratio from the size %s', (size, resolution, aspectRatio) => {
    expect(fitted({ size })).toEqual({ seconds: 5, resolution, aspectRatio });
  });

  it.each([
    [{ generate_audio: false }, false],
    [{ generate_audio: true }, true],
    [{ generate_audio: 'false' }, false],
    [{ generate_audio: null }, undefined],
    [{}, undefined],
  ])('reads whether there is sound from %j', (body, audio) => {
    expect(fitted(body).audio).toBe(audio);
  });

  it('prefers explicit fields to the size', () => {
    const body = { size: '1024x1792', resolution: '480P', aspect_ratio: '1:1' };
    expect(fitted(body)).toMatchObject({ resolution: '480p', aspectRatio: '1:1' });
  });

  it.each([
    [{ resolution: '1080p' }, 'resolution', '480p, 720p'],
    [{ size: '1024x1792' }, 'size', '1280x720, 720x1280, 640x480'],
    [{ aspect_ratio: '1:1' }, 'aspect_ratio', '16:9, 9:16'],
    [{ size: '640x480' }, 'size', '16:9, 9:16'],
    [{ size: '854x480', aspect_ratio: '9:16' }, 'size', '1280x720, 720x1280, 640x480'],
  ])('refuses %j for a model that does not make it, and says what it makes', (body, param, made) => {
    const shaped = {
      ...model.limits,
      aspectRatios: ['16:9', '9:16'],
      sizes: ['1280x720', '720x1280', '640x480'],
    };
    const ask = () => fitToModel(readVideoCreation({ ...base, ...body }), { ...model, limits: shaped });
    const message = expect.stringContaining(made);
    expect(ask).toThrow(expect.objectContaining({ code: 'invalid_value', param, message }));
  });

  it.each([
    'image',
    'images[]',
    'image[0]',
    'input_reference',
    'input_reference[image_url]',
    'reference_images',
    'reference_images[0][url]',
    'last_frame',
  ])('refuses an image as %s', (name) => {
    expect(() => fitted({ [name]: 'x' })).toThrow(
      expect.objectContaining({ code: 'image_input_not_supported', status: 422, param: name }),
    );
  });

  it('ignores empty image fields', () => {
    expect(() => fitted({ image: null, images: [] })).not.toThrow();
  });
});
