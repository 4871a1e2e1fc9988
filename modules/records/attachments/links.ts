import { createHmac, timingSafeEqual } from 'node:crypto'
import { isSafeImage } from '../../../src/core/fields/attachment-kinds.ts'
import type { StoredFile } from '../../../src/storage/index.ts'
import { type Audience, FILE_SHARES, type FileShare } from './audience.ts'

/** Sizes in which pictures are shown: the longer side in pixels. */
export const THUMBNAIL_SIZES = { tiny: 64, small: 256, card_cover: 768 } as const
export type ThumbnailSize = keyof typeof THUMBNAIL_SIZES

const SIGNATURE_LENGTH = 16 // characters of base64url: 96 bits
const STORE = 'download/'

export type FileLinks = ReturnType<typeof createFileLinks>

/** Makes the links of one audience. */
export type FileSigner = ReturnType<FileLinks['for']>

/**
 * Links that need no session: who has one may read the file until it expires, and nothing else. They are made
 * for those who may read the cell, at the moment they read it. The signature covers the place and the time;
 * its key is derived from the server's secret, so that changing `JWT_SECRET` voids all links. Those made for
 * visitors of a public link name what it opens, and are good as long as that link is as it was.
 */
export function createFileLinks(secret: Uint8Array, lifetimeMs: number) {
  const key = createHmac('sha256', secret).update('sheaf attachment links').digest()
  const signatureOf = (place: string, until: string, audience: Audience | null): string =>
    createHmac('sha256', key)
      .update([until, ...(audience ? [audience.stamp] : []), place].join('\n'))
      .digest('base64url')
      .slice(0, SIGNATURE_LENGTH)

  /** Links of one stretch of time are the same, so that browsers need not fetch a picture again. */
  function expiry(): number {
    const step = Math.ceil(lifetimeMs / 4)
    return (Math.floor(Date.now() / step) + 1) * step + lifetimeMs
  }

  return {
    expiry,

    /** @param audience who came by which public link; null for everybody else */
    for(audience: Audience | null) {
      const link = (place: string): string => {
        const until = writeUntil(expiry(), audience)
        return `dltemp/${signatureOf(place, until, audience)}/${until}/${place}`
      }
      return {
        /** `dltemp/<signature>/<expiry ms>/<place>` of a file by its path, `download/<place>`. */
        signedPath: (path: string): string => link(placeOf(path)),
        /** The same for a small version of a picture. */
        thumbnailPath: (path: string, size: ThumbnailSize): string => link(thumbnailKey(path, size)),
      }
    },

    /** True where the link is one of ours. @param audience those whom `readUntil` names, as they are now */
    isSigned(signature: string, until: string, place: string, audience: Audience | null): boolean {
      const [given, wanted] = [signature, signatureOf(place, until, audience)].map((text) =>
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

/** What stands for the time in a link: the moment, and of a visitor's what their public link opens. */
const writeUntil = (expiresAt: number, share: FileShare | null): string =>
  share ? `${expiresAt}.${share.kind}.${share.targetId}` : String(expiresAt)

/** The same read; null where it is nothing of ours, or has passed. */
export function readUntil(until: string): { expiresAt: number; share: FileShare | null } | null {
  const [, moment, kind, targetId = ''] = /^(\d{1,15})(?:\.(\w{1,8})\.(\w{1,64}))?$/.exec(until) ?? []
  const expiresAt = Number(moment)
  if (moment === undefined || expiresAt < Date.now()) return null
  if (kind === undefined) return { expiresAt, share: null }
  const known = FILE_SHARES.find((one) => one === kind)
  return known ? { expiresAt, share: { kind: known, targetId } } : null
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

/** What is served, and how. */
export interface Served {
  file: StoredFile
  /** The server's own finding, never what a client has said. */
  mimetype: string
  title: string
  /** The moment until which a browser may keep it; null: not at all. */
  keepUntil: number | null
  /** A PDF may be shown by the browser's own viewer, which a sandbox would keep from working. */
  inline?: boolean
}

/** Links to one file for the web app. */
export interface SignedFile {
  url: string
  /** Small versions of a picture; null for other files. */
  thumbnails: Record<ThumbnailSize, string> | null
}

/** The links of a file for the web app. */
export function signFile(path: string, mimetype: string, links: FileSigner): SignedFile {
  const thumbnail = (size: ThumbnailSize) => `/${links.thumbnailPath(path, size)}`
  return {
    url: `/${links.signedPath(path)}`,
    thumbnails: isSafeImage(mimetype)
      ? { tiny: thumbnail('tiny'), small: thumbnail('small'), card_cover: thumbnail('card_cover') }
      : null,
  }
}
