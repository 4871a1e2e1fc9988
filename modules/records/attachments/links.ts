import { createHmac, timingSafeEqual } from 'node:crypto'
import { nowMs } from '../../../src/clock.ts'
import { isSafeImage } from '../../../src/core/fields/attachment-kinds.ts'
import type { StoredFile } from '../../../src/storage/index.ts'
import { type Audience, FILE_SHARES, type FileShare } from './audience.ts'

/** Thumbnail sizes: the longer side in pixels. */
export const THUMBNAIL_SIZES = { tiny: 64, small: 256, card_cover: 768 } as const
export type ThumbnailSize = keyof typeof THUMBNAIL_SIZES

const SIGNATURE_LENGTH = 16 // characters of base64url: 96 bits
const STORE = 'download/'

export type FileLinks = ReturnType<typeof createFileLinks>

/** Signs links for one audience. */
export type FileSigner = ReturnType<FileLinks['for']>

/**
 * Links that need no session and give access to one file until they expire. They are signed when someone reads the
 * cell. The signature covers the key and the expiry; its key derives from the server’s secret, so changing
 * `JWT_SECRET` voids all links. Links for visitors name the target of the public link and are valid while that link
 * is unchanged.
 */
export function createFileLinks(secret: Uint8Array, lifetimeMs: number) {
  const key = createHmac('sha256', secret).update('sheaf attachment links').digest()
  const signatureOf = (place: string, until: string, audience: Audience | null): string =>
    createHmac('sha256', key)
      .update([until, ...(audience ? [audience.stamp] : []), place].join('\n'))
      .digest('base64url')
      .slice(0, SIGNATURE_LENGTH)

  /** Links are equal within a time step, so that browsers can cache images. */
  function expiry(): number {
    const step = Math.ceil(lifetimeMs / 4)
    return (Math.floor(nowMs() / step) + 1) * step + lifetimeMs
  }

  return {
    expiry,

    /** @param audience the visitors of a public link; null for others */
    for(audience: Audience | null) {
      const link = (place: string): string => {
        const until = writeUntil(expiry(), audience)
        return `dltemp/${signatureOf(place, until, audience)}/${until}/${place}`
      }
      return {
        /** `dltemp/<signature>/<expiry ms>/<key>` of a file by its path, `download/<key>`. */
        signedPath: (path: string): string => link(storeKeyOf(path)),
        /** The same for a thumbnail. */
        thumbnailPath: (path: string, size: ThumbnailSize): string => link(thumbnailKey(path, size)),
      }
    },

    /** True for a valid signature. @param audience the current audience that `readUntil` names */
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

/** The expiry in a link, with the public link’s target for visitors. */
const writeUntil = (expiresAt: number, share: FileShare | null): string =>
  share ? `${expiresAt}.${share.kind}.${share.targetId}` : String(expiresAt)

/** Parses an expiry; null if it is malformed or has passed. */
export function readUntil(until: string): { expiresAt: number; share: FileShare | null } | null {
  const [, moment, kind, targetId = ''] = /^(\d{1,15})(?:\.(\w{1,8})\.(\w{1,64}))?$/.exec(until) ?? []
  const expiresAt = Number(moment)
  if (moment === undefined || expiresAt < nowMs()) return null
  if (kind === undefined) return { expiresAt, share: null }
  const known = FILE_SHARES.find((one) => one === kind)
  return known ? { expiresAt, share: { kind: known, targetId } } : null
}

/** The store key of a file by its path. */
export const storeKeyOf = (path: string): string => path.slice(STORE.length)

/** A file’s path by its store key. */
export const pathOfKey = (place: string): string => STORE + place

/** The store key of a thumbnail. Uploads cannot have it, as their names end in random characters. */
export const thumbnailKey = (path: string, size: ThumbnailSize): string =>
  `thumbnails/${storeKeyOf(path)}/${size}.webp`

/** The image and size of a thumbnail’s key; null for other keys. */
export function readThumbnailKey(place: string): { path: string; size: ThumbnailSize } | null {
  const [, rest, size] = /^thumbnails\/(.+)\/(tiny|small|card_cover)\.webp$/.exec(place) ?? []
  return rest === undefined ? null : { path: pathOfKey(rest), size: size as ThumbnailSize }
}

/** A file to serve. */
export interface Served {
  file: StoredFile
  /** As detected by the server, not as sent by a client. */
  mimetype: string
  title: string
  /** Time until which a browser may cache it; null: not at all. */
  keepUntil: number | null
  /** Lets the browser show a PDF, whose viewer does not work in a sandbox. */
  inline?: boolean
}

/** Links to one file for the web app. */
export interface SignedFile {
  url: string
  /** Thumbnails of an image; null for other files. */
  thumbnails: Record<ThumbnailSize, string> | null
}

/** Signs the links of a file for the web app. */
export function signFile(path: string, mimetype: string, links: FileSigner): SignedFile {
  const thumbnail = (size: ThumbnailSize) => `/${links.thumbnailPath(path, size)}`
  return {
    url: `/${links.signedPath(path)}`,
    thumbnails: isSafeImage(mimetype)
      ? { tiny: thumbnail('tiny'), small: thumbnail('small'), card_cover: thumbnail('card_cover') }
      : null,
  }
}
