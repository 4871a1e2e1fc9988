import { parseJsonText } from '../json-text.ts'
import { typeByName } from './attachment-kinds.ts'
import type { CellValue } from './field-type.ts'
import { readNameList, writeNameList } from './list-value.ts'

/** One file of an Attachment cell, as the cell keeps it: links and thumbnails are made when it is read. */
export interface AttachmentItem {
  /** Place in the server's own store, `download/2026/11/20/<40 hex>/photo_5S7SR.png`; else there is a `url`. */
  path?: string
  /** A file elsewhere: an http or https address. */
  url?: string
  /** The name that people see. */
  title: string
  /** Found out by the server from the bytes; a guess by the name for a `url`. */
  mimetype: string
  /** Bytes; 0 where it is not known. */
  size: number
  /** Pixels, of images. */
  width?: number
  height?: number
}

/** Most files that any cell holds, whatever its field says. */
export const MAX_ATTACHMENTS_EVER = 100
const MAX_TITLE = 255
const MAX_URL = 2083 // spec §5
const MAX_MIMETYPE = 127
const MAX_PATH = 700

/** Parts that begin with a letter, a digit or `_`: no `..`, no hidden file, nothing to be encoded. */
const MAX_PARTS = 24
const PATH_PART = /^[A-Za-z0-9_][A-Za-z0-9_.-]*$/
const MIMETYPE = /^[\w.+-]+\/[\w.+-]+$/

/** True for a well-formed path in the server's own store, whether or not a file exists there. */
export function isStoredPath(text: string): boolean {
  if (text.length > MAX_PATH) return false
  const [root, ...parts] = text.split('/')
  return (
    root === 'download' &&
    parts.length >= 1 &&
    parts.length <= MAX_PARTS &&
    parts.every((part) => PATH_PART.test(part))
  )
}

/** The files of a cell; an empty list for null and for text that is not a file list. */
export function readAttachments(value: CellValue): AttachmentItem[] {
  if (typeof value !== 'string' || !value.startsWith('[')) return []
  try {
    const items = readItems(parseJsonText(value))
    return typeof items === 'string' ? [] : items
  } catch (error) {
    if (error instanceof SyntaxError) return []
    throw error
  }
}

/** The cell for these files; null for an empty list. */
export const writeAttachments = (items: readonly AttachmentItem[]): CellValue =>
  items.length === 0 ? null : JSON.stringify(items.map(stored))

/** Files from outside, or a sentence that says what is wrong with them. Keys that no file has are dropped. */
export function readItems(input: unknown): AttachmentItem[] | string {
  if (!Array.isArray(input)) return 'Expected a list of attachments'
  if (input.length > MAX_ATTACHMENTS_EVER) return `A cell can hold up to ${MAX_ATTACHMENTS_EVER} files`
  const items: AttachmentItem[] = []
  for (const each of input) {
    const item = readItem(each)
    if (typeof item === 'string') return item
    items.push(item)
  }
  return items
}

function readItem(input: unknown): AttachmentItem | string {
  if (typeof input !== 'object' || input === null) return 'Each attachment must be an object'
  const { path, url, title, mimetype, size, width, height } = input as Record<string, unknown>
  const place = readPlace(path, url)
  if (typeof place === 'string') return place
  return stored({
    ...place,
    title: cleanFileName(title) ?? nameIn(place.path ?? place.url ?? ''),
    mimetype: typeof mimetype === 'string' && isMimetype(mimetype) ? mimetype.toLowerCase() : '',
    size: wholeNumber(size) ?? 0,
    width: wholeNumber(width) ?? undefined,
    height: wholeNumber(height) ?? undefined,
  })
}

function readPlace(path: unknown, url: unknown): { path: string } | { url: string; path?: never } | string {
  if (typeof path === 'string' && path !== '') {
    return isStoredPath(path) ? { path } : 'The path of an attachment does not belong to this server'
  }
  if (typeof url !== 'string' || url === '') return 'Each attachment needs a "path" or a "url"'
  return isWebAddress(url) ? { url } : 'The url of an attachment must be an http or https address'
}

/** True for an address that a browser may open: http or https, and no longer than servers take. */
export function isWebAddress(text: string): boolean {
  return text.length <= MAX_URL && /^https?:\/\/[^\s\p{Cc}"<>\\]+$/iu.test(text) && URL.canParse(text)
}

const isMimetype = (text: string): boolean => text.length <= MAX_MIMETYPE && MIMETYPE.test(text)

const wholeNumber = (value: unknown): number | null =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null

/** A file's name without folders, control characters and what turns text around; null where nothing is left. */
export function cleanFileName(name: unknown): string | null {
  if (typeof name !== 'string') return null
  const last = name.slice(-2000).split(/[\\/]/).at(-1) ?? ''
  // Overrides of direction make "gpj.exe" read as "exe.jpg".
  const clean = last.replace(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu, '').trim()
  return shortened(clean).toWellFormed().trim() || null
}

/** A name that is too long loses its middle: the end says what kind of file it is. */
function shortened(name: string): string {
  if (name.length <= MAX_TITLE) return name
  const end = /\.\w{1,10}$/.exec(name)?.[0] ?? ''
  return name.slice(0, MAX_TITLE - end.length) + end
}

/** The last part of a path or address, as a name. */
export function nameIn(place: string): string {
  const path = place.split(/[?#]/, 1)[0] ?? ''
  const last = path.split('/').at(-1) ?? ''
  return cleanFileName(decoded(last)) ?? 'file'
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch (error) {
    if (error instanceof URIError) return text
    throw error
  }
}

/** The keys in one order and nothing beside them, so that equal cells are equal text. */
function stored({ path, url, title, mimetype, size, width, height }: AttachmentItem): AttachmentItem {
  return {
    ...(path === undefined ? { url } : { path }),
    title,
    mimetype,
    size,
    ...(width && height ? { width, height } : {}),
  }
}

/** Longest text that can be the file list of a cell. */
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
