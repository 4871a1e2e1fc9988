import { fieldType } from '../../src/core/fields/index.ts'
import type { Table, View, ViewField } from '../../src/core/model.ts'
import { wireTime } from '../../src/wire.ts'
import { choicesOf, isSelect } from './choices.ts'
import type { StoredField, TableModel } from './model.ts'
import { metaOf } from './wire-meta.ts'

/** A table in a list (wire reference §7). */
export const presentTable = (table: Table) => ({
  id: table.id,
  source_id: table.sourceId,
  base_id: table.baseId,
  table_name: table.tableName,
  title: table.title,
  type: 'table',
  meta: Object.keys(table.meta).length === 0 ? null : table.meta,
  schema: null,
  enabled: true,
  mm: false,
  tags: null,
  pinned: null,
  deleted: null,
  order: table.order,
  created_at: wireTime(table.createdAt),
  updated_at: wireTime(table.updatedAt),
  description: table.description,
  synced: false,
  created_by: null,
  owned_by: null,
  uuid: null,
  password: null,
  fk_custom_url_id: null,
})

/** A table fetched by its id: with its columns and views. */
export function presentWholeTable(
  model: TableModel,
  views: View[],
  presentedViews: Record<string, unknown>[],
) {
  const lines = new Map(views.find((view) => view.isDefault)?.fields.map((line) => [line.fieldId, line]))
  const columns = model.stored.map((field) => presentColumn(model.table, field, lines.get(field.id)))
  return {
    ...presentTable(model.table),
    views: presentedViews,
    columns,
    columnsById: Object.fromEntries(columns.map((column) => [column.id, column])),
    columnsHash: hashOf(model),
  }
}

/** Changes whenever a column does: 40 hexadecimal characters. */
export function hashOf({ stored }: TableModel): string {
  return new Bun.CryptoHasher('sha1').update(JSON.stringify(stored)).digest('hex')
}

/**
 * A column with every key (wire reference §8.1).
 *
 * @param line what the default view says of it, for tables; a column fetched by itself has none
 */
export function presentColumn({ id, sourceId, baseId }: Table, field: StoredField, line?: ViewField) {
  const type = fieldType(field.type)
  const isVirtual = field.columnName === ''
  const isKey = field.isPrimaryKey
  const meta = metaOf(field.type, field.options, field.wireMeta)
  const own = Object.keys(meta).length === 0 ? null : meta
  const place = line && { defaultViewColOrder: line.order, defaultViewColVisibility: line.show }
  return {
    id: field.id,
    source_id: sourceId,
    base_id: baseId,
    fk_model_id: id,
    title: field.title,
    column_name: isVirtual ? null : field.columnName,
    uidt: field.type,
    dt: isVirtual ? null : type.databaseType,
    ...{ np: null, ns: null, clen: null, cop: null },
    pk: isVirtual ? null : isKey,
    pv: field.isDisplay,
    rqd: isVirtual ? null : isKey || field.required,
    un: isVirtual ? null : isKey,
    ct: null,
    ai: isVirtual ? null : isKey,
    unique: field.unique || null,
    cdf: isVirtual ? null : defaultText(field),
    ...{ cc: null, csn: null },
    dtx: isVirtual ? null : 'specificType',
    dtxp: isVirtual ? null : optionList(field),
    dtxs: !isVirtual && ['ID', 'Number', 'LongText'].includes(field.type) ? ' ' : null,
    au: null,
    validate: VALIDATORS[field.type] ?? null,
    ...{ virtual: null, deleted: null },
    system: field.isSystem,
    order: field.order,
    created_at: wireTime(field.createdAt),
    updated_at: wireTime(field.updatedAt),
    meta: place ? { ...own, ...place } : own,
    description: field.description,
    readonly: false,
    custom_index_name: null,
    ...(isSelect(field) && { colOptions: { options: presentOptions(field, baseId) } }),
  }
}

const presentOptions = (field: StoredField, baseId: string) =>
  choicesOf(field).map(({ id, title, color }, index) => ({
    ...{ id, fk_column_id: field.id, title, color },
    order: index + 1,
    base_id: baseId,
  }))

/** `cdf` is text: `"5"`, `"1"` for a checked box; types that begin with a value of their own show it. */
function defaultText({ type, defaultValue }: StoredField): string | null {
  const value = defaultValue ?? fieldType(type).initial ?? null
  if (value === null) return null
  return typeof value === 'boolean' ? String(Number(value)) : String(value)
}

/** `'Todo','Done','it''s'` for selects, and nothing for others. */
function optionList(field: StoredField): string {
  if (!isSelect(field)) return ''
  return choicesOf(field)
    .map(({ title }) => `'${title.replaceAll("'", "''")}'`)
    .join(',')
}

const validator = (name: string): string =>
  JSON.stringify({ func: [name], args: [''], msg: [`Validation failed : ${name}`] })

const VALIDATORS: Partial<Record<string, string>> = {
  Currency: validator('isCurrency'),
  Email: validator('isEmail'),
  PhoneNumber: validator('isMobilePhone'),
  URL: validator('isURL'),
}
