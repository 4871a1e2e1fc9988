import { startsNow } from '../../../src/core/fields/default-value.ts'
import type { DatabaseTypes } from '../../../src/core/fields/field-type.ts'
import { type FieldTypeName, fieldType } from '../../../src/core/fields/index.ts'
import { hasChoices } from '../../../src/core/fields/traits.ts'
import { choicesOf, type StoredField } from '../model/index.ts'

/** How an engine's own clients write what they say of a column. */
interface ColumnWords {
  name: keyof DatabaseTypes
  checked: string
  unchecked: string
  /** Digits behind the point, or nothing in so many words. */
  scales: Partial<Record<FieldTypeName, string>>
}

const LENGTHS: Partial<Record<FieldTypeName, string>> = { Duration: '20' }
const SCALES = { ID: ' ', Number: ' ', LongText: ' ', Duration: '4' }
const IN_A_FILE: ColumnWords = { name: 'sqlite3', checked: '1', unchecked: '0', scales: SCALES }
const WORDS: ReadonlyMap<string, ColumnWords> = new Map([
  ['pg', { name: 'pg', checked: 'true', unchecked: 'false', scales: { ...SCALES, Decimal: '2' } }],
])

/**
 * What REST clients read of how a column lies in its database (wire reference §8.3): the type's name `dt`, its
 * length or options `dtxp`, its scale `dtxs`, and the default value `cdf`.
 *
 * @param client the engine of the table's source: `sqlite3`, `pg`; all others are answered as the first
 */
export function presentColumnType(field: StoredField, client: string) {
  const words = WORDS.get(client) ?? IN_A_FILE
  return {
    dt: foreignType(field) ?? specificType(field) ?? usualType(field.type, client),
    cdf: defaultText(field, words),
    dtxp: LENGTHS[field.type] ?? optionList(field),
    dtxs: words.scales[field.type] ?? null,
  }
}

/** The database type that stores a field type in an engine, as clients name it; null for those that store nothing. */
export const usualType = (type: FieldTypeName, client: string): string | null =>
  fieldType(type).databaseTypes?.[(WORDS.get(client) ?? IN_A_FILE).name] ?? null

/** The type of a connected database's column without its sizes, as clients know types. */
function foreignType({ databaseType }: StoredField): string | null {
  if (databaseType === null) return null
  const open = databaseType.indexOf('(')
  const close = databaseType.lastIndexOf(')')
  return open < 0 || close < open
    ? databaseType
    : databaseType.slice(0, open).trimEnd() + databaseType.slice(close + 1)
}

/** The type that a client gave a column of text which only a database knows; the usual one goes by the engine's name. */
function specificType({ type, options }: StoredField): string | null {
  if (!fieldType(type).namesDatabaseType || options.databaseType === 'varchar') return null
  return typeof options.databaseType === 'string' ? options.databaseType : null
}

/** `cdf` is text: `"5"`, `"1"` for a checked box; types that begin with a value of their own show it. */
function defaultText(
  { type, defaultValue }: StoredField,
  { checked, unchecked }: ColumnWords,
): string | null {
  if (startsNow({ type, defaultValue })) return 'CURRENT_TIMESTAMP'
  const value = defaultValue ?? fieldType(type).initial ?? null
  if (value === null) return null
  return typeof value === 'boolean' ? (value ? checked : unchecked) : String(value)
}

/** `'Todo','Done','it''s'` for selects, and nothing for others. */
function optionList(field: StoredField): string {
  if (!hasChoices(field)) return ''
  return choicesOf(field)
    .map(({ title }) => `'${title.replaceAll("'", "''")}'`)
    .join(',')
}
