import { readAttachments } from '../../../src/core/fields/attachment-item.ts'
import { isSafeImage } from '../../../src/core/fields/attachment-kinds.ts'
import type { CellValue } from '../../../src/core/fields/field-type.ts'
import { readList } from '../../../src/core/fields/list-value.ts'
import type { FileRow } from './files.ts'
import { type FileSigner, THUMBNAIL_SIZES, type ThumbnailSize } from './links.ts'

/** Links to one file for the web app. */
export interface SignedFile {
  url: string
  /** Small versions of a picture; null for other files. */
  thumbnails: Record<ThumbnailSize, string> | null
}

const SIZES = Object.keys(THUMBNAIL_SIZES) as ThumbnailSize[]

/** A cell of files as REST clients know it (wire §15): a list with links that are good for a while, or null. */
export function presentCell(value: CellValue, links: FileSigner): Record<string, unknown>[] | null {
  const items = readAttachments(value)
  if (items.length === 0) return null
  return items.map((item) => {
    const { path, url } = item
    if (path === undefined) return { ...item, id: itemId(url ?? ''), signedUrl: url }
    return {
      ...item,
      id: itemId(path),
      ...(isSafeImage(item.mimetype) && {
        thumbnails: Object.fromEntries(
          SIZES.map((size) => [size, { signedPath: links.thumbnailPath(path, size) }]),
        ),
      }),
      signedPath: links.signedPath(path),
    }
  })
}

/** The same for a lookup of files: those of all linked records in one list, which may be empty. */
export const presentList = (value: CellValue, links: FileSigner): Record<string, unknown>[] =>
  readList(value).flatMap((cell) => presentCell(cell, links) ?? [])

/** A file as the answer to its upload tells it (wire §13.1). */
export function presentUpload(row: FileRow, links: FileSigner): Record<string, unknown> {
  const { path, title, mimetype, size, width, height } = row
  const pixels = width !== null && height !== null ? { width, height } : {}
  return { path, title, mimetype, size, ...pixels, signedPath: links.signedPath(path) }
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

/** An id of an item, the same each time: `at` and 14 characters. */
const itemId = (place: string): string =>
  `at${BigInt(Bun.hash(place)).toString(36).padStart(14, '0').slice(-14)}`
