import { isSafeImage } from '../../../src/core/fields/attachment-kinds.ts'
import type { StoredFile } from '../../../src/storage/index.ts'

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
