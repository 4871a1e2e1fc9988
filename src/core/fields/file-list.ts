import {
  type AttachmentItem,
  isStoredPath,
  isWebAddress,
  MAX_ATTACHMENTS_EVER,
  nameIn,
  readAttachments,
  readItems,
} from './attachment-item.ts'
import { typeByName } from './attachment-kinds.ts'
import type { CellValue } from './field-type.ts'
import { readNameList, writeNameList } from './name-list.ts'

/** Text beyond this is no list of files that a cell could hold. */
const MAX_READ = 300_000

/**
 * The files of a cell as an export has them, each with where it lies: `a.png (https://…)`, or
 * `b.png (download/…)` in the server's own store. The latter opens nothing for whoever reads it.
 */
export const writeFileList = (value: CellValue): string =>
  writeNameList(readAttachments(value).map(({ title, url, path }) => `${title} (${url ?? path})`))

/**
 * Reads addresses, with or without a name ahead of them, and what `writeFileList` writes; null where the text holds
 * anything else. Of files of the store only the place is known then: who may name them is another's to say.
 *
 * @param places which files are meant: those of the store are named by an export, and never by what a person types
 */
export function readFileList(text: string, places: 'addresses' | 'all'): AttachmentItem[] | null {
  if (text.length > MAX_READ) return null
  const read = (pieces: string[]): AttachmentItem[] | null => {
    const items = pieces.map((piece) => readPiece(piece, places)).filter((item) => item !== null)
    return items.length < pieces.length || items.length > MAX_ATTACHMENTS_EVER ? null : items
  }
  // Addresses may hold commas, and names in quotes as well.
  return read(piecesOf(text)) ?? read(readNameList(text))
}

function piecesOf(text: string): string[] {
  const pieces = text.split(/\n|,\s/).flatMap((piece) => {
    const words = piece.trim().split(/\s+/)
    return words.every(isWebAddress) ? words : [piece.trim()]
  })
  return pieces.filter((piece) => piece !== '')
}

/** `photo.png (https://…)`, or the address alone. */
function readPiece(piece: string, places: 'addresses' | 'all'): AttachmentItem | null {
  const at = piece.endsWith(')') ? piece.lastIndexOf(' (') : -1
  const place = at < 0 ? piece : piece.slice(at + 2, -1)
  const isStored = places === 'all' && at > 0 && isStoredPath(place)
  if (!isStored && !isWebAddress(place)) return null
  const title = at > 0 ? piece.slice(0, at) : nameIn(place)
  const facts = { title, mimetype: typeByName(title), size: 0 }
  const items = readItems([isStored ? { path: place, ...facts } : { url: place, ...facts }])
  return typeof items === 'string' ? null : (items[0] ?? null)
}
