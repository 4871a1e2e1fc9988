import { createHmac, timingSafeEqual } from 'node:crypto'

/** Sizes in which pictures are shown: the longer side in pixels. */
export const THUMBNAIL_SIZES = { tiny: 64, small: 256, card_cover: 768 } as const
export type ThumbnailSize = keyof typeof THUMBNAIL_SIZES

const SIGNATURE_LENGTH = 16 // characters of base64url: 96 bits
const STORE = 'download/'

export type FileLinks = ReturnType<typeof createFileLinks>

/**
 * Links that need no session: who has one may read the file until it expires, and nothing else. They are made
 * for those who may read the cell, at the moment they read it. The signature covers the place and the time;
 * its key is derived from the server's secret, so that changing `JWT_SECRET` voids all links.
 */
export function createFileLinks(secret: Uint8Array, lifetimeMs: number) {
  const key = createHmac('sha256', secret).update('sheaf attachment links').digest()
  const signatureOf = (place: string, expiresAt: number): string =>
    createHmac('sha256', key).update(`${expiresAt}\n${place}`).digest('base64url').slice(0, SIGNATURE_LENGTH)

  /** Links of one stretch of time are the same, so that browsers need not fetch a picture again. */
  function expiry(): number {
    const step = Math.ceil(lifetimeMs / 4)
    return (Math.floor(Date.now() / step) + 1) * step + lifetimeMs
  }

  const link = (place: string): string => {
    const expiresAt = expiry()
    return `dltemp/${signatureOf(place, expiresAt)}/${expiresAt}/${place}`
  }

  return {
    expiry,
    /** `dltemp/<signature>/<expiry ms>/<place>` of a file by its path, `download/<place>`. */
    signedPath: (path: string): string => link(placeOf(path)),
    /** The same for a small version of a picture. */
    thumbnailPath: (path: string, size: ThumbnailSize): string => link(thumbnailKey(path, size)),
    /** True where the link is one of ours and still good. */
    isValid(signature: string, expiresAt: string, place: string): boolean {
      if (!/^\d{1,15}$/.test(expiresAt) || Number(expiresAt) < Date.now()) return false
      const [given, wanted] = [signature, signatureOf(place, Number(expiresAt))].map((text) =>
        Buffer.from(text),
      )
      return (
        given !== undefined &&
        wanted !== undefined &&
        given.length === wanted.length &&
        timingSafeEqual(given, wanted)
      )
    },
  }
}

/** The store's key of a file by its path. */
export const placeOf = (path: string): string => path.slice(STORE.length)

/** A file's path by its key in the store. */
export const pathOf = (place: string): string => STORE + place

/** Where a small version lies. No upload can: their names end in five characters of their own. */
export const thumbnailKey = (path: string, size: ThumbnailSize): string =>
  `thumbnails/${placeOf(path)}/${size}.webp`

/** The picture and the size that a key of a small version means; null for any other key. */
export function readThumbnailKey(place: string): { path: string; size: ThumbnailSize } | null {
  const [, rest, size] = /^thumbnails\/(.+)\/(tiny|small|card_cover)\.webp$/.exec(place) ?? []
  return rest === undefined ? null : { path: pathOf(rest), size: size as ThumbnailSize }
}
