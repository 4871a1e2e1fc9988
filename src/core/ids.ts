const ALPHABET = 'abcdefghijklmnopqrstuvwxyz0123456789'

/** Key of a record: a number in base tables; text for other or composite keys of connected tables. */
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
  audit: 'adt',
  job: 'job',
  mail: 'ml',
  option: 's',
  attachment: 'at',
  rowId: 'rc_',
} as const

export type IdKind = keyof typeof ID_PREFIX

/** A new id such as `p3k9x0a7b2c4d1`: the kind's prefix and 14 random characters of [a-z0-9]. */
export function createId(kind: IdKind): string {
  return ID_PREFIX[kind] + randomText(14)
}

/** `length` random characters of [a-z0-9], uniformly distributed (biased bytes are dropped). */
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

/** Ids of bases, sources, tables, fields and views, anywhere in a text. */
const ID = /\b(?:vw|[pbmc])[a-z0-9]{14}\b/g

/**
 * Replaces ids in a definition (a formula, a filter, link options); unknown ids are unchanged. Do not use it
 * on user content.
 */
export function renameIds<T>(value: T, ids: ReadonlyMap<string, string>): T {
  if (value === null || value === undefined) return value
  return JSON.parse(JSON.stringify(value).replace(ID, (id) => ids.get(id) ?? id))
}
