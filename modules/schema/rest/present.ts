import { fieldType } from '../../../src/core/fields/index.ts'
import { hasChoices, isForeignKey, isRecordId } from '../../../src/core/fields/traits.ts'
import type { Table, View, ViewField } from '../../../src/core/model.ts'
import { wireTime } from '../../../src/wire/lists.ts'
import { choicesOf, type StoredField, type TableModel } from '../model/index.ts'
import { presentColumnType } from './wire-column-type.ts'
import { presentComputed, virtualName, type WireSurroundings } from './wire-computed.ts'
import { metaOf } from './wire-meta.ts'

/** A table in a list (wire reference §7). */
export const presentTable = (table: Table) => ({
  id: table.id,
  source_id: table.sourceId,
  base_id: table.baseId,
  table_name: table.tableName,
  title: table.title,
  type: table.kind,
  meta: Object.keys(table.meta).length === 0 ? null : table.meta,
  schema: null,
  enabled: true,
  mm: table.isJunction,
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
  around: WireSurroundings,
) {
  const lines = new Map(views.find((view) => view.isDefault)?.fields.map((line) => [line.fieldId, line]))
  const columns = model.stored.map((field) => presentColumn(model.table, field, around, lines.get(field.id)))
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
export function presentColumn(
  { id, sourceId, baseId }: Table,
  field: StoredField,
  around: WireSurroundings,
  line?: ViewField,
) {
  const type = fieldType(field.type)
  const isVirtual = field.columnName === ''
  const columnType = isVirtual ? null : presentColumnType(field, around.client)
  const colOptions = presentComputed(field, baseId, around)
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
    column_name: isVirtual ? virtualName(field) : field.columnName,
    uidt: field.type,
    dt: columnType?.dt ?? null,
    np: null,
    ns: null,
    clen: null,
    cop: null,
    pk: isVirtual ? null : isKey,
    pv: field.isDisplay,
    rqd: isVirtual ? null : isKey || field.required,
    un: isVirtual ? null : isUnsigned(field),
    ct: null,
    ai: isVirtual ? null : isRecordId(field),
    unique: field.unique || null,
    cdf: columnType?.cdf ?? null,
    cc: null,
    csn: null,
    dtx: isVirtual || isForeignKey(field) ? null : 'specificType',
    dtxp: columnType?.dtxp ?? null,
    dtxs: columnType?.dtxs ?? null,
    au: null,
    validate: VALIDATORS[field.type] ?? null,
    virtual: type.computed === 'link' ? true : null,
    deleted: null,
    system: field.isSystem,
    order: field.order,
    created_at: wireTime(field.createdAt),
    updated_at: wireTime(field.updatedAt),
    meta: place ? { ...own, ...place } : own,
    description: field.description,
    readonly: field.readOnlyReason !== null,
    custom_index_name: null,
    ...(hasChoices(field) && { colOptions: { options: presentOptions(field, baseId) } }),
    ...(colOptions && { colOptions }),
  }
}

/** Keys of ours are never negative; of a column that is not ours its type says so. */
const isUnsigned = ({ databaseType, isPrimaryKey, type }: StoredField): boolean =>
  databaseType === null ? isPrimaryKey || isForeignKey({ type }) : /\bunsigned\b/i.test(databaseType)

const presentOptions = (field: StoredField, baseId: string) =>
  choicesOf(field).map(({ id, title, color }, index) => ({
    id,
    fk_column_id: field.id,
    title,
    color,
    order: index + 1,
    base_id: baseId,
  }))

const validator = (name: string): string =>
  JSON.stringify({ func: [name], args: [''], msg: [`Validation failed : ${name}`] })

const VALIDATORS: Partial<Record<string, string>> = {
  Currency: validator('isCurrency'),
  Email: validator('isEmail'),
  PhoneNumber: validator('isMobilePhone'),
  URL: validator('isURL'),
}
