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

/** Whatever is in a file, it runs nothing, loads nothing, and no other site frames it. */
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'self'"

/**
 * A file as an answer. Only pictures that can run nothing are shown by a browser that opens the link; all
 * else is saved. Parts are given for sound and video (RFC 9110 §14).
 */
export function serveFile(request: Request, served: Served): Response {
  const { file, mimetype, keepUntil } = served
  const headers = new Headers({
    'content-type': servedType(mimetype),
    'content-disposition': disposition(served),
    'content-security-policy': mayBeInline(served) ? POLICY : `${POLICY}; sandbox`,
    'x-content-type-options': 'nosniff',
    // Pictures may stand in pages of other sites, as links to them are made for that.
    'cross-origin-resource-policy': isSafeImage(mimetype) ? 'cross-origin' : 'same-origin',
    'referrer-policy': 'no-referrer',
    'accept-ranges': 'bytes',
    'cache-control': cacheControl(keepUntil),
  })
  const range = readRange(request.headers.get('range'), file.size)
  if (range === 'unfit') {
    headers.set('content-range', `bytes */${file.size}`)
    headers.delete('content-disposition')
    return new Response(null, { status: 416, headers })
  }
  const { from, to } = range ?? { from: 0, to: file.size }
  if (range) headers.set('content-range', `bytes ${from}-${to - 1}/${file.size}`)
  headers.set('content-length', String(to - from))
  const body = request.method === 'HEAD' ? null : range ? file.read(from, to) : file.read()
  return new Response(body, { status: range ? 206 : 200, headers })
}

/** Types that a page of ours could load as its own script, style, worker or document: its policy allows its own server. */
const ACTIVE = /^(?:text\/(?:html|xml|css|xsl|cache-manifest)|application\/(?:xml|wasm|json|manifest))$/
const ACTIVE_ENDING = /(?:script|\+xml|\+json)$/

/** The type as it is told: of what a page could run it is that of plain text. Drawings run nothing as pictures. */
function servedType(mimetype: string): string {
  const type = isActive(mimetype) ? 'text/plain' : mimetype
  return type.startsWith('text/') ? `${type}; charset=utf-8` : type
}

const isActive = (mimetype: string): boolean =>
  mimetype !== 'image/svg+xml' && (ACTIVE.test(mimetype) || ACTIVE_ENDING.test(mimetype))

/** Where there is nothing to serve, in the words that REST clients know. */
export const noFile = (text: 'File not found' | 'Not found'): Response =>
  new Response(text, { status: 404, headers: { 'content-type': 'text/plain; charset=utf-8' } })

const mayBeInline = ({ inline, mimetype }: Served): boolean =>
  inline === true && mimetype === 'application/pdf'

function disposition(served: Served): string {
  const kind = isSafeImage(served.mimetype) || mayBeInline(served) ? 'inline' : 'attachment'
  const plain = served.title.replace(/[^\x20-\x7e]|["\\%]/g, '_')
  const encoded = encodeURIComponent(served.title).replace(
    /['()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16)}`,
  )
  return `${kind}; filename="${plain}"; filename*=UTF-8''${encoded}`
}

function cacheControl(keepUntil: number | null): string {
  const seconds = keepUntil === null ? 0 : Math.floor((keepUntil - Date.now()) / 1000)
  return seconds > 0 ? `private, max-age=${seconds}, immutable` : 'no-store'
}

/** One range of bytes; null for none, or for what may be ignored: several, or another unit. */
function readRange(header: string | null, size: number): { from: number; to: number } | 'unfit' | null {
  const [, first = '', last = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header ?? '') ?? []
  if (first === '' && last === '') return null
  const from = first === '' ? Math.max(0, size - Number(last)) : Number(first)
  const to = first === '' || last === '' ? size : Math.min(size, Number(last) + 1)
  return from < to && from < size ? { from, to } : 'unfit'
}
