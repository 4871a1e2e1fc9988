import { defaultsToNow } from '../../../src/core/fields/default-value.ts'
import type { DatabaseTypes } from '../../../src/core/fields/field-type.ts'
import { type FieldTypeName, fieldType } from '../../../src/core/fields/index.ts'
import { hasChoices } from '../../../src/core/fields/traits.ts'
import { choicesOf, type StoredField } from '../model/index.ts'

/** How the REST API describes columns of an engine. */
interface ColumnFormat {
  name: keyof DatabaseTypes
  checked: string
  unchecked: string
  /** `dtxs`: decimal digits, or a space. */
  scales: Partial<Record<FieldTypeName, string>>
}

const LENGTHS: Partial<Record<FieldTypeName, string>> = { Duration: '20' }
const SCALES = { ID: ' ', Number: ' ', LongText: ' ', Duration: '4' }
const SQLITE: ColumnFormat = { name: 'sqlite3', checked: '1', unchecked: '0', scales: SCALES }
const FORMATS: ReadonlyMap<string, ColumnFormat> = new Map([
  ['pg', { name: 'pg', checked: 'true', unchecked: 'false', scales: { ...SCALES, Decimal: '2' } }],
])

/**
 * The storage of a column (wire §8.3): type name `dt`, length or options `dtxp`, scale `dtxs`, and default
 * value `cdf`.
 *
 * @param client the engine of the table's source; all but `pg` are presented like `sqlite3`
 */
export function presentColumnType(field: StoredField, client: string) {
  const format = FORMATS.get(client) ?? SQLITE
  return {
    dt: foreignType(field) ?? specificType(field) ?? usualType(field.type, client),
    cdf: defaultText(field, format),
    dtxp: LENGTHS[field.type] ?? optionList(field),
    dtxs: format.scales[field.type] ?? null,
  }
}

/** The database type that stores a field type in an engine; null for types without a column. */
export const usualType = (type: FieldTypeName, client: string): string | null =>
  fieldType(type).databaseTypes?.[(FORMATS.get(client) ?? SQLITE).name] ?? null

/** The type of a connected database's column without its sizes. */
function foreignType({ databaseType }: StoredField): string | null {
  if (databaseType === null) return null
  const open = databaseType.indexOf('(')
  const close = databaseType.lastIndexOf(')')
  return open < 0 || close < open
    ? databaseType
    : databaseType.slice(0, open).trimEnd() + databaseType.slice(close + 1)
}

/** The database type chosen for a SpecificDBType field; null for the default one. */
function specificType({ type, options }: StoredField): string | null {
  if (!fieldType(type).namesDatabaseType || options.databaseType === 'varchar') return null
  return typeof options.databaseType === 'string' ? options.databaseType : null
}

/** `cdf` is text, such as `"5"`, or `"1"` for a checked box; without a default it is the type's initial value. */
function defaultText(
  { type, defaultValue }: StoredField,
  { checked, unchecked }: ColumnFormat,
): string | null {
  if (defaultsToNow({ type, defaultValue })) return 'CURRENT_TIMESTAMP'
  const value = defaultValue ?? fieldType(type).initial ?? null
  if (value === null) return null
  return typeof value === 'boolean' ? (value ? checked : unchecked) : String(value)
}

/** `'Todo','Done','it''s'` for selects, else empty. */
function optionList(field: StoredField): string {
  if (!hasChoices(field)) return ''
  return choicesOf(field)
    .map(({ title }) => `'${title.replaceAll("'", "''")}'`)
    .join(',')
}
