/** Pixels of a picture. */
export interface ImageSize {
  width: number
  height: number
}

/** Larger pictures are kept, but neither measured nor made small: decoding one takes 4 bytes per pixel. */
export const MAX_PIXELS = 60_000_000

const MAX_SIDE = 1_000_000
/** Where the `ispe` box of an AVIF file stands at the latest. */
const AVIF_HEAD = 64 * 1024

/** The size of a picture as it is shown, turned upright by what its camera noted; null where it is not known. */
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
    // A broken picture is a file like any other.
    if (isImageError(error)) return null
    throw error
  }
}

/** True for what the decoder says of bytes that it cannot read, or of a picture that is too large. */
export const isImageError = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && /^ERR_(IMAGE|OUT_OF_MEMORY)/.test(String(error.code))

/** The `ispe` property of HEIF (ISO 23008-12): box, version and flags, then width and height. */
function boxSize(head: Buffer): ImageSize | null {
  const at = head.indexOf('ispe')
  return at < 0 || at + 16 > head.length ? null : known(head.readUInt32BE(at + 8), head.readUInt32BE(at + 12))
}

/** Width and height of the outermost element, else those of its view box. */
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
