const ALPHABET = 'abcdefghijklmnopqrstuvwxyz0123456789'

/** Key of a record: a number in tables of our own, a text where a connected table has other or several keys. */
export type RecordId = number | string

/** Prefix of each kind of id; REST clients rely on the prefix and on the 14 characters after it. */
const ID_PREFIX = {
  base: 'p',
  source: 'b',
  table: 'm',
  field: 'c',
  view: 'vw',
  gridViewField: 'nc',
  formViewField: 'fvc',
  galleryViewField: 'gvc',
  kanbanViewField: 'kvc',
  calendarViewField: 'cvc',
  mapViewField: 'mvc',
  sort: 'so',
  filter: 'fi',
  hook: 'hk',
  hookLog: 'hkl',
  user: 'us',
  notification: 'nc',
  comment: 'com',
  job: 'job',
  mail: 'ml',
  option: 's',
  attachment: 'at',
  rowId: 'rc_',
} as const

export type IdKind = keyof typeof ID_PREFIX

/** A fresh id such as `p3k9x0a7b2c4d1`: the kind's prefix and 14 random characters of [a-z0-9]. */
export function createId(kind: IdKind): string {
  return ID_PREFIX[kind] + randomText(14)
}

/** `length` characters of [a-z0-9], each equally likely (bytes past the last full run are dropped). */
export function randomText(length: number): string {
  let text = ''
  const limit = 256 - (256 % ALPHABET.length)
  while (text.length < length) {
    for (const byte of crypto.getRandomValues(new Uint8Array(length * 2))) {
      if (byte < limit && text.length < length) text += ALPHABET[byte % ALPHABET.length]
    }
  }
  return text
}

/** Ids of bases, sources, tables, fields and views, wherever they stand in a text. */
const ID = /\b(?:vw|[pbmc])[a-z0-9]{14}\b/g

/**
 * A definition that names others (a formula, a filter, the field of a link) with their new ids; ids of
 * anything else stay as they are. For structures only: what people wrote is to be left alone.
 */
export function renameIds<T>(value: T, ids: ReadonlyMap<string, string>): T {
  if (value === null || value === undefined) return value
  return JSON.parse(JSON.stringify(value).replace(ID, (id) => ids.get(id) ?? id))
}
