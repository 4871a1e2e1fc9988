import { randomText } from '../../../src/core/ids.ts'

const MAX_FOLDERS = 8
const MAX_FOLDER = 60
const MAX_NAME = 80

/**
 * A fresh place in the store: `2026/11/20/<40 hex>/photo_5s7sr.png`, or under the folder that a client asks
 * for. The 160 random bits are there in either case.
 */
export function newPlace(title: string, folder: string | null): string {
  const random = Buffer.from(crypto.getRandomValues(new Uint8Array(20))).toString('hex')
  return [...foldersOf(folder), random, storedName(title)].join('/')
}

function foldersOf(folder: string | null): string[] {
  const asked = (folder ?? '').split(/[\\/]/).filter((part) => part !== '')
  if (asked.length === 0) return new Date().toISOString().slice(0, 10).split('-')
  return asked.slice(0, MAX_FOLDERS).map((part) => (part === '..' ? '_' : plain(part).slice(0, MAX_FOLDER)))
}

/** The name in plain letters with five random characters ahead of its ending. */
function storedName(title: string): string {
  const [, base = '', ending = ''] = /^(.*?)(\.[A-Za-z0-9]{1,10})?$/s.exec(title) ?? []
  return `${plain(base).slice(0, MAX_NAME)}_${randomText(5)}${ending}`
}

/** Letters, digits, `_`, `.` and `-`, the first of them one of the former: see `isKey`. */
const plain = (text: string): string => {
  const known = text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[^A-Za-z0-9_.-]/g, '_')
  return /^[A-Za-z0-9_]/.test(known) ? known : `_${known.slice(1)}`
}
