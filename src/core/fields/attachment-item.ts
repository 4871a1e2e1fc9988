import { decodeUri } from '../decode-uri.ts'
import { parseJsonText } from '../json-text.ts'
import { typeByName } from './attachment-kinds.ts'
import type { CellValue } from './field-type.ts'
import { readNameList, writeNameList } from './list-value.ts'

/** One file of an Attachment cell as stored; links and thumbnails are added on read. */
export interface AttachmentItem {
  /** Path in the server's file store, `download/2026/11/20/<40 hex>/photo_5S7SR.png`; absent for an external file. */
  path?: string
  /** URL of an external file, http or https. */
  url?: string
  /** File name shown to users. */
  title: string
  /** Detected from the content; for a `url`, derived from the file name. */
  mimetype: string
  /** Bytes; 0 if unknown. */
  size: number
  /** Pixels; images only. */
  width?: number
  height?: number
}

/** Maximum number of files in a cell, whatever the field's limit. */
export const MAX_ATTACHMENTS_EVER = 100
const MAX_TITLE = 255
const MAX_URL = 2083 // spec §5
const MAX_MIMETYPE = 127
const MAX_PATH = 700

/** Path segments start with a letter, digit or `_`, which excludes `..`, hidden files and escaped characters. */
const MAX_SEGMENTS = 24
const PATH_SEGMENT = /^[A-Za-z0-9_][A-Za-z0-9_.-]*$/
const MIMETYPE = /^[\w.+-]+\/[\w.+-]+$/

/** True for a well-formed path in the server's file store; the file need not exist. */
export function isStoredPath(text: string): boolean {
  if (text.length > MAX_PATH) return false
  const [root, ...segments] = text.split('/')
  return (
    root === 'download' &&
    segments.length >= 1 &&
    segments.length <= MAX_SEGMENTS &&
    segments.every((segment) => PATH_SEGMENT.test(segment))
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
  items.length === 0 ? null : JSON.stringify(items.map(normalized))

/** Parses files sent by a client; returns an error message if they are invalid. Drops unknown keys. */
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
  const location = readLocation(path, url)
  if (typeof location === 'string') return location
  return normalized({
    ...location,
    title: cleanFileName(title) ?? nameIn(location.path ?? location.url ?? ''),
    mimetype: typeof mimetype === 'string' && isMimetype(mimetype) ? mimetype.toLowerCase() : '',
    size: wholeNumber(size) ?? 0,
    width: wholeNumber(width) ?? undefined,
    height: wholeNumber(height) ?? undefined,
  })
}

function readLocation(
  path: unknown,
  url: unknown,
): { path: string } | { url: string; path?: never } | string {
  if (typeof path === 'string' && path !== '') {
    return isStoredPath(path) ? { path } : 'The path of an attachment does not belong to this server'
  }
  if (typeof url !== 'string' || url === '') return 'Each attachment needs a "path" or a "url"'
  return isWebAddress(url) ? { url } : 'The url of an attachment must be an http or https address'
}

/** True for an http or https URL of at most 2083 characters. */
export function isWebAddress(text: string): boolean {
  return text.length <= MAX_URL && /^https?:\/\/[^\s\p{Cc}"<>\\]+$/iu.test(text) && URL.canParse(text)
}

const isMimetype = (text: string): boolean => text.length <= MAX_MIMETYPE && MIMETYPE.test(text)

const wholeNumber = (value: unknown): number | null =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null

/** A file name without folders, control characters and bidirectional overrides; null if nothing remains. */
export function cleanFileName(name: unknown): string | null {
  if (typeof name !== 'string') return null
  const last = name.slice(-2000).split(/[\\/]/).at(-1) ?? ''
  // Bidirectional overrides can disguise "gpj.exe" as "exe.jpg".
  const clean = last.replace(/[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu, '').trim()
  return shortened(clean).toWellFormed().trim() || null
}

/** Truncates a long name before its extension. */
function shortened(name: string): string {
  if (name.length <= MAX_TITLE) return name
  const end = /\.\w{1,10}$/.exec(name)?.[0] ?? ''
  return name.slice(0, MAX_TITLE - end.length) + end
}

/** The file name at the end of a path or URL. */
export function nameIn(location: string): string {
  const path = location.split(/[?#]/, 1)[0] ?? ''
  const last = path.split('/').at(-1) ?? ''
  return cleanFileName(decodeUri(last)) ?? 'file'
}

/** The stored form: known keys in a fixed order, so that equal files give equal text. */
function normalized({ path, url, title, mimetype, size, width, height }: AttachmentItem): AttachmentItem {
  return {
    ...(path === undefined ? { url } : { path }),
    title,
    mimetype,
    size,
    ...(width && height ? { width, height } : {}),
  }
}

/** Longest text that is read as a file list. */
const MAX_READ = 300_000

/**
 * The files of a cell for an export, each with its location: `a.png (https://…)`, or `b.png (download/…)` in
 * the server's file store. A store path alone grants no access.
 */
export const writeFileList = (value: CellValue): string =>
  writeNameList(readAttachments(value).map(({ title, url, path }) => `${title} (${url ?? path})`))

/**
 * Parses URLs with or without a preceding name, and the output of `writeFileList`; null for any other text.
 * Only the paths of stored files are read: the caller must check access to them.
 *
 * @param locations `all` also accepts stored files, as exports name them; typed text may contain URLs only
 */
export function readFileList(text: string, locations: 'addresses' | 'all'): AttachmentItem[] | null {
  if (text.length > MAX_READ) return null
  const read = (pieces: string[]): AttachmentItem[] | null => {
    const items = pieces.map((piece) => readPiece(piece, locations)).filter((item) => item !== null)
    return items.length < pieces.length || items.length > MAX_ATTACHMENTS_EVER ? null : items
  }
  // Both URLs and quoted names may contain commas.
  return read(piecesOf(text)) ?? read(readNameList(text))
}

function piecesOf(text: string): string[] {
  const pieces = text.split(/\n|,\s/).flatMap((piece) => {
    const words = piece.trim().split(/\s+/)
    return words.every(isWebAddress) ? words : [piece.trim()]
  })
  return pieces.filter((piece) => piece !== '')
}

/** Reads `photo.png (https://…)` or a URL alone. */
function readPiece(piece: string, locations: 'addresses' | 'all'): AttachmentItem | null {
  const at = piece.endsWith(')') ? piece.lastIndexOf(' (') : -1
  const location = at < 0 ? piece : piece.slice(at + 2, -1)
  const isStored = locations === 'all' && at > 0 && isStoredPath(location)
  if (!isStored && !isWebAddress(location)) return null
  const title = at > 0 ? piece.slice(0, at) : nameIn(location)
  const facts = { title, mimetype: typeByName(title), size: 0 }
  const items = readItems([isStored ? { path: location, ...facts } : { url: location, ...facts }])
  return typeof items === 'string' ? null : (items[0] ?? null)
}
