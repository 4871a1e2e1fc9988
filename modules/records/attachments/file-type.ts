import { TYPES_BY_ENDING } from '../../../src/core/fields/attachment-kinds.ts'

/** Bytes at the start of a file that are enough to detect its type. */
export const HEAD_BYTES = 4096

/** File signatures (`?` is any byte), from https://mimesniff.spec.whatwg.org and the formats’ specifications. */
const SIGNATURES: readonly [type: string, signature: string, offset?: number][] = [
  ['image/png', '\x89PNG\r\n\x1a\n'],
  ['image/jpeg', '\xff\xd8\xff'],
  ['image/gif', 'GIF8'],
  ['image/webp', 'RIFF????WEBP'],
  ['image/bmp', 'BM????\0\0\0\0'],
  ['image/tiff', 'II*\0'],
  ['image/tiff', 'MM\0*'],
  ['image/x-icon', '\0\0\x01\0'],
  ['application/pdf', '%PDF-'],
  ['application/rtf', '{\\rtf'],
  ['audio/wav', 'RIFF????WAVE'],
  ['video/x-msvideo', 'RIFF????AVI '],
  ['audio/mpeg', 'ID3'],
  ['audio/flac', 'fLaC'],
  ['audio/ogg', 'OggS'],
  ['application/gzip', '\x1f\x8b'],
  ['application/x-7z-compressed', "7z\xbc\xaf'\x1c"],
  ['application/vnd.rar', 'Rar!\x1a\x07'],
  ['application/x-bzip2', 'BZh'],
  ['application/x-xz', '\xfd7zXZ\0'],
  ['application/x-tar', 'ustar', 257],
]

/** Brands of `ftyp` containers (ISO 14496-12). */
const BRANDS: readonly [brand: RegExp, type: string][] = [
  [/^avi[fs]/, 'image/avif'],
  [/^(hei[cxms]|hev|mif1|msf1)/, 'image/heic'],
  [/^M4[AB]/, 'audio/mp4'],
  [/^qt/, 'video/quicktime'],
  [/./, 'video/mp4'],
]

/** Containers whose content is known only from the file name, which is trusted if it fits the container. */
const ZIPPED = /officedocument|opendocument|^application\/zip$/
const OLE = /^application\/(msword|vnd\.ms-)/

/** Plain text types that a file name may specify. */
const TEXTUAL = /^(text\/|application\/(json|xml)$)/

/**
 * Detects a file’s type from its first bytes. The client’s type is ignored; the extension counts only among the types
 * that the bytes allow: text can be CSV but never an image.
 */
export function sniffType(head: Uint8Array, name: string): string {
  const bytes = Buffer.from(head.buffer, head.byteOffset, Math.min(head.byteLength, HEAD_BYTES))
  const text = bytes.toString('latin1')
  const named = TYPES_BY_ENDING[/\.(\w{1,8})$/.exec(name)?.[1]?.toLowerCase() ?? ''] ?? ''
  for (const [type, signature, offset = 0] of SIGNATURES) if (fits(text, signature, offset)) return type
  if (text.startsWith('ftyp', 4))
    return BRANDS.find(([brand]) => brand.test(text.slice(8, 12)))?.[1] ?? 'video/mp4'
  if (text.startsWith('\x1aE\xdf\xa3')) return text.includes('webm') ? 'video/webm' : 'video/x-matroska'
  if (text.startsWith('PK\x03\x04')) return ZIPPED.test(named) ? named : 'application/zip'
  if (text.startsWith('\xd0\xcf\x11\xe0')) return OLE.test(named) ? named : 'application/octet-stream'
  // Untagged audio starts with a frame: eleven set bits, then an existing layer (ISO 11172-3).
  if (bytes[0] === 0xff && ((bytes[1] ?? 0) & 0xe6) === 0xe2) return 'audio/mpeg'
  if (!isText(bytes)) return 'application/octet-stream'
  if (isSvg(bytes.toString('utf8'))) return 'image/svg+xml'
  return TEXTUAL.test(named) ? named : 'text/plain'
}

function fits(text: string, signature: string, offset: number): boolean {
  if (text.length < offset + signature.length) return false
  for (let at = 0; at < signature.length; at++) {
    if (signature[at] !== '?' && signature[at] !== text[offset + at]) return false
  }
  return true
}

/** True for bytes without control characters other than those of text. The last character may be cut. */
function isText(bytes: Buffer): boolean {
  if (bytes.length === 0) return true
  for (const byte of bytes) if (byte < 9 || (byte > 13 && byte < 32 && byte !== 27)) return false
  return true
}

/** Parts that may precede the root element (XML 1.0, production 22), each with its end. */
const PROLOG: readonly [start: RegExp, end: string][] = [
  [/^<\?xml/i, '>'],
  [/^<!--/, '-->'],
  [/^<!DOCTYPE svg/i, '>'],
]

/** True if the root element is `svg`. Skips each part of the prolog once, so the time is linear. */
function isSvg(text: string): boolean {
  let rest = text.replace(/^\ufeff/, '').trimStart()
  for (;;) {
    const part = PROLOG.find(([start]) => start.test(rest))
    if (!part) return /^<svg[\s>]/i.test(rest)
    const end = rest.indexOf(part[1])
    if (end < 0) return false
    rest = rest.slice(end + part[1].length).trimStart()
  }
}

/** Image size in pixels. */
export interface ImageSize {
  width: number
  height: number
}

/** Larger images are stored, but neither measured nor resized: decoding takes 4 bytes per pixel. */
export const MAX_PIXELS = 60_000_000

const MAX_SIDE = 1_000_000
/** The `ispe` box of an AVIF file is within this range. */
const AVIF_HEAD = 64 * 1024

/** The size of an image after applying its EXIF orientation; null if unknown. */
export async function imageSize(path: string, mimetype: string): Promise<ImageSize | null> {
  if (mimetype === 'image/svg+xml') return svgSize(await Bun.file(path).slice(0, 4096).text())
  if (mimetype === 'image/avif' || mimetype === 'image/heic') {
    return boxSize(Buffer.from(await Bun.file(path).slice(0, AVIF_HEAD).arrayBuffer()))
  }
  if (!mimetype.startsWith('image/')) return null
  try {
    const { width, height } = await new Bun.Image(Bun.file(path), { maxPixels: MAX_PIXELS }).metadata()
    return known(width, height)
  } catch (error) {
    // A broken image is stored like any other file.
    if (isImageError(error)) return null
    throw error
  }
}

/** True for decoder errors about unreadable or too large images. */
export const isImageError = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && /^ERR_(IMAGE|OUT_OF_MEMORY)/.test(String(error.code))

/** The `ispe` property of HEIF (ISO 23008-12): box, version and flags, then width and height. */
function boxSize(head: Buffer): ImageSize | null {
  const at = head.indexOf('ispe')
  return at < 0 || at + 16 > head.length ? null : known(head.readUInt32BE(at + 8), head.readUInt32BE(at + 12))
}

/** The size of the root element, else of its view box. */
function svgSize(text: string): ImageSize | null {
  const start = text.search(/<svg\b/i)
  const end = start < 0 ? -1 : text.indexOf('>', start)
  const tag = end < 0 ? '' : text.slice(start, end)
  const width = /\swidth ?= ?["']([\d.]{1,20})(?:px)?["']/i.exec(tag)?.[1]
  const height = /\sheight ?= ?["']([\d.]{1,20})(?:px)?["']/i.exec(tag)?.[1]
  const [, , boxWidth, boxHeight] =
    /\sviewBox ?= ?["']([^"']+)["']/i
      .exec(tag)?.[1]
      ?.trim()
      .split(/[\s,]+/) ?? []
  return known(Math.round(Number(width ?? boxWidth)), Math.round(Number(height ?? boxHeight)))
}

const known = (width: number, height: number): ImageSize | null =>
  width > 0 && height > 0 && width <= MAX_SIDE && height <= MAX_SIDE ? { width, height } : null
